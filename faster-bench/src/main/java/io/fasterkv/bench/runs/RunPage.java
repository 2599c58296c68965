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
import io.fasterkv.bench.report.TextTable;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;

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
    add(report.means(), page);
    if (!RunGoals.of(figures).isEmpty()) {
      page.section(RunReport.GOALS);
      page.table(GoalTable.table(RunGoals.of(figures)));
    }
    add(report.medians(), page);
    page.text(ReportOptions.COLUMNS.replace("%%", "%"));
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

  private static void add(Map<String, TextTable> tables, HtmlPage page) {
    tables.forEach((title, table) -> {
      page.section(title);
      page.table(table);
    });
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

  private String settings(JobPlan plan) {
    return String.format(
        Locale.ROOT,
        "%,d events of seed %d, %s, parallelism %d, a checkpoint every %,d ms, %s, %s.",
        plan.input().events(),
        plan.input().seed(),
        plan.cluster().isSeparate() ? "a cluster of several JVMs" : "a cluster in one JVM",
        plan.parallelism(),
        plan.checkpointMillis(),
        plan.failures().isEmpty()
            ? "no failures"
            : "failures after the shares " + plan.failures() + " of the events",
        figures.isPaced() ? pace() : "as fast as possible");
  }

  /** Jobs have different rates where the rate is a share of their throughput. */
  private String pace() {
    LongSummaryStatistics rates =
        figures.rows().stream()
            .mapToLong(row -> row.plan().pace().eventsPerSecond())
            .summaryStatistics();
    return rates.getMin() == rates.getMax()
        ? String.format(Locale.ROOT, "%,d events a second", rates.getMin())
        : String.format(Locale.ROOT, "%,d to %,d events a second", rates.getMin(), rates.getMax());
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
