package io.fasterkv.flink;

import java.util.SplittableRandom;
import org.junit.jupiter.api.function.ThrowingConsumer;

/**
 * Random tests that can be replayed: a failure names its seed, and {@code -Dfaster.seed=N} runs
 * only that seed.
 */
public final class Seeds {
  private static final Long ONLY = Long.getLong("faster.seed");

  /** A test runs one in this many seeds: 1 in the long suites, 20 otherwise. */
  private static final int ONE_OF = Integer.getInteger("faster.oneSeedOf", 20);

  private Seeds() {}

  /** Runs a test with several seeds, or with some of them. */
  public static void run(int times, ThrowingConsumer<SplittableRandom> test) throws Throwable {
    long first = ONLY != null ? ONLY : System.nanoTime();
    for (long seed = first; seed < first + (ONLY != null ? 1 : part(times)); seed++) {
      try {
        test.accept(new SplittableRandom(seed));
      } catch (Throwable failure) {
        throw new AssertionError("failed with -Dfaster.seed=" + seed, failure);
      }
    }
  }

  /**
   * Number of the {@code count} rounds that a test runs: all in the long suites, a twentieth
   * otherwise, at least one.
   */
  public static int part(int count) {
    return Math.ceilDiv(count, ONE_OF);
  }

  /** Random bytes. */
  public static byte[] bytes(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
