package io.fasterkv.bench.runs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.StateBackend;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Spread;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalDouble;

/**
 * What this project's backend should reach in stateful jobs: geometric means over the jobs, with
 * the lowest and the highest ratio of a job.
 */
final class RunGoals {
  private static final double MOST_SYNC_MILLIS = 10;

  private final Figures figures;
  private final List<Goal> goals = new ArrayList<>();

  private RunGoals(Figures figures) {
    this.figures = figures;
  }

  /** The goals for which something was measured. */
  static List<Goal> of(Figures figures) {
    RunGoals goals = new RunGoals(figures);
    if (!figures.isPaced()) {
      goals.throughput();
      goals.atMost(Measure.FIRST, "time to the first 100,000 events", StateBackend.ROCKSDB, 0.8);
      goals.atMost(Measure.RECOVERY, "time from a failure to 90 %", StateBackend.ROCKSDB, 0.8);
    }
    String cpu = "processor time of the first 300,000 events";
    goals.atMost(Measure.FIRST_CPU, cpu, StateBackend.ROCKSDB, 0.7);
    goals.atMost(Measure.FIRST_CPU, cpu, StateBackend.HASHMAP, 1.3);
    goals.atMost(Measure.FULL, "bytes of the newest checkpoint", StateBackend.ROCKSDB, 2);
    goals.atMost(Measure.P999, "p99.9 of the latency", StateBackend.ROCKSDB, 0.5);
    goals.synchronousPhase();
    return goals.goals;
  }

  private void throughput() {
    List<Double> toRocks = ratios(Measure.THROUGHPUT, StateBackend.ROCKSDB);
    mean(Measure.THROUGHPUT, StateBackend.ROCKSDB)
        .ifPresent(mean -> {
          double least = Collections.min(toRocks);
          goals.add(Goal.atLeast("throughput, against rocksdb", 2.0, spread(mean, toRocks), ""));
          goals.add(
              Goal.atLeast(
                  "lowest throughput of a job, against rocksdb",
                  1.2,
                  new Spread(least, least, least),
                  ""));
        });
    mean(Measure.THROUGHPUT, StateBackend.HASHMAP)
        .ifPresent(mean ->
            goals.add(
                Goal.atLeast(
                    "throughput, against hashmap",
                    0.8,
                    spread(mean, ratios(Measure.THROUGHPUT, StateBackend.HASHMAP)),
                    "")));
  }

  private void atMost(Measure measure, String name, StateBackend against, double most) {
    mean(measure, against)
        .ifPresent(mean ->
            goals.add(
                Goal.atMost(
                    name + ", against " + against,
                    "x",
                    most,
                    spread(mean, ratios(measure, against)),
                    "")));
  }

  /** The 99th percentile over the checkpoints of all stateful jobs and rounds. */
  private void synchronousPhase() {
    List<Long> ours = figures.syncMillis(StateBackend.FASTER);
    List<Long> rocks = figures.syncMillis(StateBackend.ROCKSDB);
    if (ours.isEmpty()) {
      return;
    }
    String name = "p99 of the synchronous phase";
    Spread millis = new Spread(p99(ours), ours.getFirst(), ours.getLast());
    goals.add(Goal.atMost(name, "ms", MOST_SYNC_MILLIS, millis, ours.size() + " checkpoints"));
    if (!rocks.isEmpty() && p99(rocks) > 0) {
      double ratio = (double) p99(ours) / p99(rocks);
      goals.add(
          Goal.atMost(
              name + ", against rocksdb",
              "x",
              1,
              new Spread(ratio, ratio, ratio),
              "rocksdb: " + p99(rocks) + " ms"));
    }
  }

  private static long p99(List<Long> ascending) {
    return ascending.get((int) Math.ceil(0.99 * ascending.size()) - 1);
  }

  private OptionalDouble mean(Measure measure, StateBackend against) {
    return figures.mean(StateBackend.FASTER, against, measure);
  }

  private List<Double> ratios(Measure measure, StateBackend against) {
    return figures.jobs().stream()
        .filter(BenchJob::isStateful)
        .map(job -> figures.ratio(job, StateBackend.FASTER, against, measure))
        .flatMapToDouble(OptionalDouble::stream)
        .boxed()
        .toList();
  }

  private static Spread spread(double mean, List<Double> ratios) {
    return new Spread(mean, Collections.min(ratios), Collections.max(ratios));
  }
}
