package io.fasterkv.cluster;

import java.util.concurrent.TimeUnit;

/** Waits for conditions. The limit is so high that only a hang exceeds it. */
final class Await {
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final long PAUSE_MILLIS = 50;

  private Await() {}

  /** A condition, which may throw any exception. */
  interface Condition {
    boolean holds() throws Exception;
  }

  /** Waits until {@code condition} holds, checking it a few times a second. */
  static void until(String what, Condition condition) throws Exception {
    until(what, PAUSE_MILLIS, condition);
  }

  /** Like {@link #until(String, Condition)}, with a given pause between two checks. */
  static void until(String what, long pauseMillis, Condition condition) throws Exception {
    long begin = System.nanoTime();
    while (!condition.holds()) {
      if (System.nanoTime() - begin > PATIENCE_NANOS) {
        throw new AssertionError("timed out waiting for: " + what);
      }
      Thread.sleep(pauseMillis);
    }
  }
}
