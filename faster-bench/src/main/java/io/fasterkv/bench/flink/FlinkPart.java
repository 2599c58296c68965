package io.fasterkv.bench.flink;

import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** Runs of one kind, and what they have measured so far. */
final class FlinkPart<R> {
  private final List<Run<R>> runs;
  private final int steps;
  private final Function<List<R>, FlinkReport> reports;
  private final List<R> results = new CopyOnWriteArrayList<>();

  /** One run. */
  @FunctionalInterface
  interface Run<R> {
    List<R> run(WorkDirectory work, Progress progress) throws Exception;
  }

  /**
   * @param steps the number of steps that all runs report together
   */
  FlinkPart(List<Run<R>> runs, int steps, Function<List<R>, FlinkReport> reports) {
    this.runs = runs;
    this.steps = steps;
    this.reports = reports;
  }

  int steps() {
    return steps;
  }

  /**
   * Runs everything; {@code save} is called after each run, so that a later failure loses little.
   */
  void run(WorkDirectory work, Progress progress, Save save) throws Exception {
    for (Run<R> run : runs) {
      results.addAll(run.run(work, progress));
      save.save();
    }
  }

  /** Saves all results so far. */
  @FunctionalInterface
  interface Save {
    void save() throws Exception;
  }

  boolean hasResults() {
    return !results.isEmpty();
  }

  /** Of the results so far; for any thread. */
  FlinkReport report() {
    return reports.apply(List.copyOf(results));
  }
}
