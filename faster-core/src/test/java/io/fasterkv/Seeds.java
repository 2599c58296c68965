package io.fasterkv;

import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Seeds of model tests: new ones in each run, or the one given by {@code -Dfaster.seed}. */
public final class Seeds {
  /** A test takes one in this many seeds: 1 in the long suites, 20 otherwise. */
  private static final int ONE_OF = Integer.getInteger("faster.oneSeedOf", 20);

  private Seeds() {}

  /**
   * Returns {@code count} seeds, or a part of them. A test puts its seed into every message, so
   * that a failure replays.
   */
  public static LongStream fresh(int count) {
    Long given = Long.getLong("faster.seed");
    if (given != null) {
      return LongStream.of(given);
    }
    return new SplittableRandom(System.nanoTime()).longs(part(count), 0, 1L << 32);
  }

  /**
   * Number of the {@code count} rounds that a test runs: all in the long suites, a twentieth
   * otherwise, at least one.
   */
  public static int part(int count) {
    return Math.ceilDiv(count, ONE_OF);
  }

  /** Whether one seed is to be replayed. */
  static boolean isGiven() {
    return Long.getLong("faster.seed") != null;
  }
}
