package io.fasterkv;

import io.fasterkv.api.LongFunctions;

/** Adds, and stops in the middle the first time. */
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
