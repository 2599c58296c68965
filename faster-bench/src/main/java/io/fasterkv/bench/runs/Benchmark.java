package io.fasterkv.bench.runs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.JobSuite;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.report.TableAtEnd;
import java.io.IOException;
import java.util.List;

/** What a command that measures jobs does. */
public final class Benchmark {
  private final JobSuite suite;
  private final JobOptions options;
  private final ReportOptions reports;

  /** A command for the jobs of a suite. */
  public Benchmark(JobSuite suite, JobOptions options, ReportOptions reports) {
    this.suite = suite;
    this.options = options;
    this.reports = reports;
  }

  /**
   * Measures jobs, and reports after each run and at the end.
   *
   * @return the exit code
   * @throws io.fasterkv.bench.workload.WrongAnswer if results differ
   */
  public int run(List<? extends BenchJob> jobs) throws IOException {
    RunPlan plan = options.plan(suite, jobs);
    return reports.directory().inNew(work -> run(plan, work));
  }

  private int run(RunPlan plan, WorkDirectory work) throws IOException {
    try (Progress progress = Progress.start(suite.name(), plan.runs())) {
      Runs runs = new Runs(plan, work, progress);
      try (TableAtEnd atEnd = TableAtEnd.of(() -> report(runs).text(), runs::abort)) {
        measure(runs, atEnd);
      }
    }
    return 0;
  }

  private void measure(Runs runs, TableAtEnd atEnd) throws IOException {
    try {
      runs.run(() -> reports.write(report(runs)));
    } catch (IOException e) {
      if (!atEnd.isStopped()) {
        throw e;
      }
    }
  }

  private RunReport report(Runs runs) {
    return new RunReport(suite, runs.rows());
  }
}
