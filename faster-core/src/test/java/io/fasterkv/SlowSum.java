package io.fasterkv;

import io.fasterkv.api.LongFunctions;

/** A sum that does something, or stops, in the middle of an addition. */
record SlowSum(Runnable within) implements LongFunctions<Void> {
  SlowSum(Pause pause) {
    this(pause::here);
  }

  @Override
  public long initialUpdater(long key, long input) {
    return input;
  }

  @Override
  public long updater(long key, long input, long oldValue) {
    within.run();
    return oldValue + input;
  }
}
