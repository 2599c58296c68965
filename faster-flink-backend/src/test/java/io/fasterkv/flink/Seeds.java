package io.fasterkv.flink;

import java.util.SplittableRandom;
import org.junit.jupiter.api.function.ThrowingConsumer;

/**
 * Random tests that can be replayed: a failure names its seed, and {@code -Dfaster.seed=N} runs
 * that seed alone.
 */
public final class Seeds {
  private static final Long ONLY = Long.getLong("faster.seed");

  private Seeds() {}

  /** Runs a test with several seeds. */
  public static void run(int times, ThrowingConsumer<SplittableRandom> test) throws Throwable {
    long first = ONLY != null ? ONLY : System.nanoTime();
    for (long seed = first; seed < first + (ONLY != null ? 1 : times); seed++) {
      try {
        test.accept(new SplittableRandom(seed));
      } catch (Throwable failure) {
        throw new AssertionError("failed with -Dfaster.seed=" + seed, failure);
      }
    }
  }

  /** Random bytes. */
  public static byte[] bytes(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
