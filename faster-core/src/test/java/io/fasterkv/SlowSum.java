package io.fasterkv;

import io.fasterkv.api.LongFunctions;

/** A sum that stops in the middle of its first addition. */
record SlowSum(Pause pause) implements LongFunctions<Void> {
  @Override
  public long initialUpdater(long key, long input) {
    return input;
  }

  @Override
  public long updater(long key, long input, long oldValue) {
    pause.here();
    return oldValue + input;
  }
}
