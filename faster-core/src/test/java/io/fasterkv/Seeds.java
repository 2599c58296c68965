package io.fasterkv;

import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Seeds of model tests: fresh ones each run, or the one given by {@code -Dfaster.seed}. */
public final class Seeds {
  private Seeds() {}

  /** {@code count} seeds; a test puts its seed into every message, so that a failure replays. */
  public static LongStream fresh(int count) {
    Long given = Long.getLong("faster.seed");
    if (given != null) {
      return LongStream.of(given);
    }
    return new SplittableRandom(System.nanoTime()).longs(count, 0, 1L << 32);
  }

  /** Whether one seed is to be replayed. */
  static boolean isGiven() {
    return Long.getLong("faster.seed") != null;
  }
}
