package io.fasterkv.flink.restore;

import org.apache.flink.util.clock.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells in the log how far a restore has come, once in ten seconds at most. For the task thread.
 */
final class RestoreProgress {
  private static final Logger LOG = LoggerFactory.getLogger(RestoreProgress.class);
  private static final long TELL_EVERY_MILLIS = 10_000;

  private final Clock clock;
  private final long beganAt;
  private long toldAt;

  RestoreProgress(Clock clock) {
    this.clock = clock;
    beganAt = clock.relativeTimeMillis();
    toldAt = beganAt;
  }

  /**
   * Tells it, unless the restore began, or something was told, less than ten seconds ago.
   *
   * @param what is being done
   * @param soFar what is done of it
   */
  void tell(String what, Object soFar) {
    long now = clock.relativeTimeMillis();
    if (now - toldAt >= TELL_EVERY_MILLIS) {
      toldAt = now;
      LOG.info("{}: {}, millis={}", what, soFar, now - beganAt);
    }
  }

  /** How long the restore has taken so far. */
  long millis() {
    return clock.relativeTimeMillis() - beganAt;
  }
}
