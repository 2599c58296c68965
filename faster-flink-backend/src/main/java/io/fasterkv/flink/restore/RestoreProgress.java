package io.fasterkv.flink.restore;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.apache.flink.util.clock.Clock;

/** Logs the progress of a restore, at most once in ten seconds. For the task thread. */
final class RestoreProgress {
  private static final long LOG_EVERY_MILLIS = 10_000;

  private final Clock clock;
  private final Logger logger;
  private final long beganAt;
  private long loggedAt;

  RestoreProgress(RestoreScope scope) {
    clock = scope.clock();
    logger = scope.logger();
    beganAt = clock.relativeTimeMillis();
    loggedAt = beganAt;
  }

  /**
   * Logs progress, unless the restore began or logged less than ten seconds ago.
   *
   * @param what the name of the work
   * @param soFar the progress
   */
  void logProgress(String what, Object soFar) {
    long now = clock.relativeTimeMillis();
    if (now - loggedAt >= LOG_EVERY_MILLIS) {
      loggedAt = now;
      logger.log(Level.INFO, what + ": " + soFar + ", millis=" + (now - beganAt));
    }
  }

  /** How long the restore has taken so far. */
  long millis() {
    return clock.relativeTimeMillis() - beganAt;
  }
}
