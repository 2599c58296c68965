package io.fasterkv.flink.metrics;

import org.apache.flink.runtime.metrics.MetricNames;
import org.apache.flink.runtime.state.StateBackend.CustomInitializationMetrics;
import org.apache.flink.util.clock.Clock;

/**
 * How long the two parts of a restore take, as Flink shows them for a job's initialization: {@value
 * MetricNames#DOWNLOAD_STATE_DURATION} until the store is open, for which the index and what it is
 * made from are read, and {@value MetricNames#RESTORE_STATE_DURATION} after that until the task may
 * use its state, for records that are put in one by one, timers and migration. What is copied in
 * the background later counts in neither. For one thread.
 */
public final class RestoreDurations {
  private final CustomInitializationMetrics metrics;
  private final Clock clock;
  private long since;

  /** The first part begins now. */
  public RestoreDurations(CustomInitializationMetrics metrics, Clock clock) {
    this.metrics = metrics;
    this.clock = clock;
    since = clock.relativeTimeMillis();
  }

  /**
   * The store is open.
   *
   * @param isReported whether it was opened from a checkpoint
   */
  public void downloaded(boolean isReported) {
    ended(MetricNames.DOWNLOAD_STATE_DURATION, isReported);
  }

  /**
   * The task may use its state.
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
