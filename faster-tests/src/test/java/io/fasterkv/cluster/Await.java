package io.fasterkv.cluster;

import java.util.concurrent.TimeUnit;

/** Waits for conditions. What never comes is an error after so long that no machine is so slow. */
final class Await {
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final long PAUSE_MILLIS = 50;

  private Await() {}

  /** May throw what it likes. */
  interface Condition {
    boolean holds() throws Exception;
  }

  /** Waits until {@code condition} holds, looking some times a second. */
  static void until(String what, Condition condition) throws Exception {
    until(what, PAUSE_MILLIS, condition);
  }

  /** As {@link #until(String, Condition)}, looking every so often. */
  static void until(String what, long pauseMillis, Condition condition) throws Exception {
    long begin = System.nanoTime();
    while (!condition.holds()) {
      if (System.nanoTime() - begin > PATIENCE_NANOS) {
        throw new AssertionError("waited in vain: " + what);
      }
      Thread.sleep(pauseMillis);
    }
  }
}
