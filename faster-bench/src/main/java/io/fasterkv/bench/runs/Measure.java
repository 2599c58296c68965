package io.fasterkv.bench.runs;

import io.fasterkv.bench.job.JobResult;
import io.fasterkv.bench.job.JobResult.Checkpoints;
import io.fasterkv.bench.job.JobResult.Latency;
import io.fasterkv.bench.report.Spread;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** A column of the report. */
enum Measure {
  THROUGHPUT(Part.SPEED, "k events/s", 1, Measure::throughput),
  FIRST(Part.SPEED, "first s", 2, JobResult::firstSeconds),
  RECOVERY(Part.SPEED, "recovery s", 2, Measure::recovery),
  P50(Part.CHECKPOINTS, "p50 ms", 2, ofLatency(Latency::p50)),
  P99(Part.CHECKPOINTS, "p99 ms", 2, ofLatency(Latency::p99)),
  P999(Part.CHECKPOINTS, "p99.9 ms", 2, ofLatency(Latency::p999)),
  CPU(Part.SPEED, "cpu us", 2, JobResult::cpuMicros),
  FIRST_CPU(Part.SPEED, "first cpu s", 2, JobResult::firstCpuSeconds),
  RESIDENT(Part.SPEED, "RSS MB", 0, result -> result.residentBytes() / 1e6),
  CHECKPOINT(Part.CHECKPOINTS, "cp ms", 0, ofCheckpoints(Checkpoints::millis)),
  SYNC(Part.CHECKPOINTS, "sync ms", 0, ofCheckpoints(Checkpoints::mostSyncMillis)),
  WRITTEN(Part.CHECKPOINTS, "cp MB", 2, ofCheckpoints(c -> c.writtenBytes() / 1e6 / c.count())),
  FULL(Part.CHECKPOINTS, "full MB", 2, ofCheckpoints(c -> c.fullBytes() / 1e6)),
  FILES(Part.CHECKPOINTS, "files", 0, ofCheckpoints(Checkpoints::files));

  /** Columns that are in a table together, so that a line has at most 120 characters. */
  enum Part {
    SPEED("throughput, processor time, memory"),
    CHECKPOINTS("latency, checkpoints");

    private final String title;

    Part(String title) {
      this.title = title;
    }

    @Override
    public String toString() {
      return title;
    }
  }

  private final Part part;
  private final String label;
  private final int digits;
  private final Function<JobResult, @Nullable Double> figure;

  Measure(Part part, String label, int digits, Function<JobResult, @Nullable Double> figure) {
    this.part = part;
    this.label = label;
    this.digits = digits;
    this.figure = figure;
  }

  /** The figure of a run, or null if it has none. */
  @Nullable Double of(JobResult result) {
    return figure.apply(result);
  }

  Part part() {
    return part;
  }

  String label() {
    return label;
  }

  String format(double value) {
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }

  private static @Nullable Double throughput(JobResult result) {
    return result.eventsPerSecond() == 0 ? null : Double.valueOf(result.eventsPerSecond() / 1e3);
  }

  private static @Nullable Double recovery(JobResult result) {
    return result.recoverySeconds().isEmpty() ? null : Spread.of(result.recoverySeconds()).median();
  }

  private static Function<JobResult, @Nullable Double> ofLatency(ToDoubleFunction<Latency> of) {
    return result -> result.latency() == null ? null : of.applyAsDouble(result.latency());
  }

  private static Function<JobResult, @Nullable Double> ofCheckpoints(
      ToDoubleFunction<Checkpoints> of) {
    return result -> result.checkpoints() == null ? null : of.applyAsDouble(result.checkpoints());
  }
}
