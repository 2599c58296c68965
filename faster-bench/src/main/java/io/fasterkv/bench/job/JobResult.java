package io.fasterkv.bench.job;

import io.fasterkv.bench.profile.HotFrames;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was measured in one run. A figure is null where it could not be measured.
 *
 * @param digest of the final result
 * @param seconds from the job's submission to the sink's last row
 * @param eventsPerSecond at steady state: after the warm-up and up to the first failure or the end;
 *     0 where the run is too short
 * @param throughput over the whole run
 * @param firstSeconds from the job's submission until its source had emitted 100,000 events
 * @param firstCpuSeconds processor time until its source had emitted 300,000 events
 * @param recoverySeconds for each failure, until the job had 90 % of its throughput again
 * @param cpuMicros processor time of the cluster's processes for an event, in microseconds
 * @param residentBytes the most that each of the cluster's processes had, summed up
 * @param profile null where none was recorded
 */
public record JobResult(
    Digest digest,
    double seconds,
    double eventsPerSecond,
    List<Moment> throughput,
    @Nullable Double firstSeconds,
    @Nullable Double firstCpuSeconds,
    List<Double> recoverySeconds,
    double cpuMicros,
    long residentBytes,
    @Nullable Latency latency,
    @Nullable Checkpoints checkpoints,
    @Nullable HotFrames profile) {

  /** The same figures with a profile. */
  public JobResult with(HotFrames ofRun) {
    return new JobResult(
        digest,
        seconds,
        eventsPerSecond,
        throughput,
        firstSeconds,
        firstCpuSeconds,
        recoverySeconds,
        cpuMicros,
        residentBytes,
        latency,
        checkpoints,
        ofRun);
  }

  /**
   * The throughput around a moment.
   *
   * @param seconds since the job's submission
   */
  public record Moment(double seconds, double eventsPerSecond) {}

  /** Milliseconds from the time at which an event was due until the sink, without the warm-up. */
  public record Latency(double p50, double p90, double p99, double p999, double max) {}

  /**
   * Completed checkpoints.
   *
   * @param millis the median of their durations
   * @param mostMillis the longest of their durations
   * @param syncMillis of each, the longest synchronous phase of a task
   * @param writtenBytes of all of them together
   * @param fullBytes of the newest one, with what it has of earlier ones
   * @param largestFullBytes of the largest one
   * @param files of the newest one and of those in progress
   */
  public record Checkpoints(
      double millis,
      double mostMillis,
      List<Long> syncMillis,
      long writtenBytes,
      long fullBytes,
      long largestFullBytes,
      long files) {
    /** How many there are, one at least. */
    public int count() {
      return syncMillis.size();
    }

    /** The longest synchronous phase of all. */
    public long mostSyncMillis() {
      return Collections.max(syncMillis);
    }
  }
}
