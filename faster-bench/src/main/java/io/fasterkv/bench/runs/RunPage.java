package io.fasterkv.bench.runs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobResult;
import io.fasterkv.bench.job.JobSuite;
import io.fasterkv.bench.job.StateBackend;
import io.fasterkv.bench.report.GoalTable;
import io.fasterkv.bench.report.HtmlPage;
import io.fasterkv.bench.report.SvgBars;
import io.fasterkv.bench.report.SvgLines;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Reports runs as a page with tables and plots. */
final class RunPage {
  private final JobSuite suite;
  private final RunReport report;
  private final Figures figures;

  RunPage(JobSuite suite, RunReport report, Figures figures) {
    this.suite = suite;
    this.report = report;
    this.figures = figures;
  }

  /** The page, of one run at least. */
  HtmlPage page() {
    HtmlPage page = new HtmlPage("./bench " + suite.name());
    page.text(machine());
    page.text(settings(figures.rows().getFirst().plan()));
    page.section(RunReport.MEANS);
    page.table(report.meansTable());
    if (!RunGoals.of(figures).isEmpty()) {
      page.section(RunReport.GOALS);
      page.table(GoalTable.table(RunGoals.of(figures)));
    }
    page.section("Medians over the rounds");
    page.text(ReportOptions.COLUMNS.replace("%%", "%"));
    page.table(report.mediansTable());
    if (!report.framesTable().rows().isEmpty()) {
      page.section(RunReport.FRAMES);
      page.table(report.framesTable());
    }
    for (Measure measure : Measure.values()) {
      if (figures.has(measure)) {
        page.section(measure.label());
        page.plot(bars(measure));
      }
    }
    for (BenchJob job : figures.jobs()) {
      page.section(job + ": thousands of events a second, in the newest round");
      page.plot(lines(job));
    }
    return page;
  }

  private static String machine() {
    return String.format(
        "%s, %d processors, %s %s, Java %s.",
        Instant.now().truncatedTo(ChronoUnit.SECONDS),
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.name"),
        System.getProperty("os.arch"),
        System.getProperty("java.version"));
  }

  private static String settings(JobPlan plan) {
    return String.format(
        "%,d events of seed %d, parallelism %d, a checkpoint every %,d ms, failures after the"
            + " shares %s of the events, %s.",
        plan.input().events(),
        plan.input().seed(),
        plan.parallelism(),
        plan.checkpointMillis(),
        plan.failures(),
        plan.pace().eventsPerSecond() == 0
            ? "as fast as possible"
            : plan.pace().eventsPerSecond() + " events a second");
  }

  private SvgBars bars(Measure measure) {
    SvgBars bars =
        new SvgBars(measure.label(), figures.jobs().stream().map(BenchJob::toString).toList());
    for (StateBackend backend : figures.backends()) {
      bars.add(
          backend.toString(),
          figures.jobs().stream().map(job -> figures.median(job, backend, measure)).toList());
    }
    return bars;
  }

  private SvgLines lines(BenchJob job) {
    SvgLines lines = new SvgLines(job + ": throughput", "seconds since the submission");
    for (StateBackend backend : figures.backends()) {
      figures
          .newest(job, backend)
          .ifPresent(row -> lines.add(backend.toString(), points(row.result())));
    }
    return lines;
  }

  private static List<SvgLines.Point> points(JobResult result) {
    return result.throughput().stream()
        .map(moment -> new SvgLines.Point(moment.seconds(), moment.eventsPerSecond() / 1e3))
        .toList();
  }
}
