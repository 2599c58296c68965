package io.fasterkv.bench.runs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobResult;
import io.fasterkv.bench.job.StateBackend;
import io.fasterkv.bench.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/** Medians over rounds, ratios within rounds, and means over jobs. */
final class Figures {
  private final List<Row> rows;

  Figures(List<Row> rows) {
    this.rows = rows;
  }

  /**
   * A run.
   *
   * @param round from 1
   */
  record Row(int round, JobPlan plan, JobResult result) {}

  List<Row> rows() {
    return rows;
  }

  /** In the order in which they were run. */
  List<BenchJob> jobs() {
    return rows.stream().map(row -> row.plan.job()).distinct().toList();
  }

  List<StateBackend> backends() {
    return rows.stream().map(row -> row.plan.backend()).distinct().sorted().toList();
  }

  boolean has(BenchJob job, StateBackend backend) {
    return of(job, backend).findAny().isPresent();
  }

  boolean has(Measure measure) {
    return rows.stream().anyMatch(row -> measure.of(row.result) != null);
  }

  /** The median of the rounds. */
  OptionalDouble median(BenchJob job, StateBackend backend, Measure measure) {
    return median(
        of(job, backend).map(row -> measure.of(row.result)).filter(Objects::nonNull).toList());
  }

  /** The median of the rounds' ratios of one backend to another. */
  OptionalDouble ratio(BenchJob job, StateBackend backend, StateBackend against, Measure measure) {
    List<Double> ratios = new ArrayList<>();
    for (Row row : of(job, backend).toList()) {
      Double figure = measure.of(row.result);
      of(job, against)
          .filter(other -> other.round == row.round)
          .map(other -> measure.of(other.result))
          .filter(other -> figure != null && other != null && other > 0)
          .forEach(other -> ratios.add(Objects.requireNonNull(figure) / other));
    }
    return median(ratios);
  }

  /** The geometric mean of the stateful jobs' ratios. */
  OptionalDouble mean(StateBackend backend, StateBackend against, Measure measure) {
    double[] ratios =
        jobs().stream()
            .filter(BenchJob::isStateful)
            .map(job -> ratio(job, backend, against, measure))
            .flatMapToDouble(OptionalDouble::stream)
            .filter(ratio -> ratio > 0)
            .toArray();
    double logs = 0;
    for (double ratio : ratios) {
      logs += Math.log(ratio);
    }
    return ratios.length == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(Math.exp(logs / ratios.length));
  }

  /**
   * The synchronous phases of a backend's checkpoints in all runs of stateful jobs, in
   * milliseconds, ascending.
   */
  List<Long> syncMillis(StateBackend backend) {
    return rows.stream()
        .filter(row -> row.plan.backend() == backend && row.plan.job().isStateful())
        .map(row -> row.result.checkpoints())
        .filter(Objects::nonNull)
        .flatMap(checkpoints -> checkpoints.syncMillis().stream())
        .sorted()
        .toList();
  }

  /** Says whether events were due at times, so that throughput shows no backend's speed. */
  boolean isPaced() {
    return rows.stream().anyMatch(row -> row.plan.pace().eventsPerSecond() > 0);
  }

  /** The run of the newest round. */
  Optional<Row> newest(BenchJob job, StateBackend backend) {
    return of(job, backend).reduce((older, newer) -> newer);
  }

  private Stream<Row> of(BenchJob job, StateBackend backend) {
    return rows.stream().filter(row -> row.plan.job().equals(job) && row.plan.backend() == backend);
  }

  private static OptionalDouble median(List<Double> measured) {
    return measured.isEmpty()
        ? OptionalDouble.empty()
        : OptionalDouble.of(Spread.of(measured).median());
  }
}
