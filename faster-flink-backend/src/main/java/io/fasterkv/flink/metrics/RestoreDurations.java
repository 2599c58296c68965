package io.fasterkv.flink.metrics;

import org.apache.flink.runtime.metrics.MetricNames;
import org.apache.flink.runtime.state.StateBackend.CustomInitializationMetrics;
import org.apache.flink.util.clock.Clock;

/**
 * Reports the durations of the two parts of a restore, as Flink shows them for a job's
 * initialization. {@value MetricNames#DOWNLOAD_STATE_DURATION} ends when the store is open: it
 * includes reading or building the index. {@value MetricNames#RESTORE_STATE_DURATION} follows until
 * the task may use its state: it includes records inserted one by one, timers and migration.
 * Neither includes the copy in the background. For one thread.
 */
public final class RestoreDurations {
  private final CustomInitializationMetrics metrics;
  private final Clock clock;
  private long since;

  /** Starts the first part. */
  public RestoreDurations(CustomInitializationMetrics metrics, Clock clock) {
    this.metrics = metrics;
    this.clock = clock;
    since = clock.relativeTimeMillis();
  }

  /**
   * Ends the first part: the store is open.
   *
   * @param isReported whether it was opened from a checkpoint
   */
  public void downloaded(boolean isReported) {
    ended(MetricNames.DOWNLOAD_STATE_DURATION, isReported);
  }

  /**
   * Ends the second part: the task may use its state.
   *
   * @param isReported whether there was state to restore
   */
  public void restored(boolean isReported) {
    ended(MetricNames.RESTORE_STATE_DURATION, isReported);
  }

  private void ended(String name, boolean isReported) {
    long now = clock.relativeTimeMillis();
    if (isReported) {
      metrics.addMetric(name, now - since);
    }
    since = now;
  }
}
