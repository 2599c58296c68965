package io.fasterkv.bench.job;

import io.fasterkv.bench.events.EventClock;
import io.fasterkv.bench.events.Share;
import java.io.Serializable;
import java.util.List;

/**
 * One run of one job.
 *
 * @param job such as query 5 of Nexmark
 * @param input the events
 * @param cluster where it runs
 * @param pace when events are due, and which of them are not measured
 * @param failures events at which a task fails, as shares of all events, ascending
 * @param checkpointMillis from one checkpoint to the next
 * @param isWrong whether the backend loses writes, for a test of the comparison
 */
public record JobPlan(
    BenchJob job,
    StateBackend backend,
    Input input,
    Cluster cluster,
    Pace pace,
    List<Double> failures,
    long checkpointMillis,
    boolean isWrong)
    implements Serializable {

  /**
   * The events of a run.
   *
   * @param events how many
   * @param disorder events among which the order is changed, 1 for none
   */
  public record Input(long events, long seed, int disorder) implements Serializable {}

  /**
   * The cluster of a run.
   *
   * @param parallelism tasks of each operator, and readers of the source
   * @param memoryBytes managed memory of all tasks together
   * @param isSeparate whether its processes are others than the one that measures
   */
  public record Cluster(int parallelism, long memoryBytes, boolean isSeparate)
      implements Serializable {}

  /**
   * The pace of a run.
   *
   * @param eventsPerSecond 0 for as fast as the job can
   * @param warmUp the share of events before the steady state
   */
  public record Pace(long eventsPerSecond, double warmUp) implements Serializable {}

  /** Tasks of each operator, and readers of the source. */
  public int parallelism() {
    return cluster.parallelism;
  }

  /** The file that tasks share with the process that measures them. */
  MeterLayout layout() {
    return new MeterLayout(parallelism(), failures.size());
  }

  /** The first event of the steady state. */
  long warmEvents() {
    return (long) (input.events * pace.warmUp);
  }

  /** The events of a reader. */
  Share share(int reader) {
    return new Share(reader, parallelism(), input.events, input.disorder);
  }

  /** The event times at which a task fails. */
  long[] failureMillis() {
    return failures.stream()
        .mapToLong(share -> EventClock.millisOf((long) (input.events * share)))
        .toArray();
  }
}
