package io.fasterkv.bench.cpr;

import io.fasterkv.FasterStore;
import io.fasterkv.bench.cpr.LatencyRun.Longest;
import io.fasterkv.bench.cpr.LatencyRun.Recording;
import io.fasterkv.bench.report.Csv;
import io.fasterkv.bench.report.LinePlot;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.rows.Goal;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Latency against time with checkpoints of the log, fold-over (FASTER's CPR, figure 14), and the
 * longest time that any operation took.
 */
final class LatencyFigures implements CprPart {
  private static final List<Distribution> DISTRIBUTIONS =
      List.of(Distribution.ZIPF, Distribution.UNIFORM);
  private static final double WANTED_MILLIS = 5;

  /** Checkpoints, and the end. */
  private static final double[] TIMES = {1, 2.2, 3.4, 4.6};

  private final CprPlan plan;

  private record Panel(String figure, Workload workload) {}

  private static final List<Panel> PANELS =
      List.of(new Panel("14a", Workload.UPSERT), new Panel("14b", Workload.RMW));

  LatencyFigures(CprPlan plan) {
    this.plan = plan;
  }

  @Override
  public int steps() {
    return PANELS.size() * DISTRIBUTIONS.size();
  }

  @Override
  public List<Goal> run(CprOutput output) throws IOException {
    List<Longest> longest = new ArrayList<>();
    for (Panel panel : PANELS) {
      String name = "figure-" + panel.figure + "-latency";
      LinePlot plot =
          new LinePlot(
              "Latency, checkpoints of the log, fold-over, " + panel.workload.label(),
              "s",
              "mean latency, \u00b5s");
      Csv csv = new Csv("series", "s", "operations", "mean ns", "99.9 % ns", "longest ns");
      for (Distribution distribution : DISTRIBUTIONS) {
        List<KeyStream> streams = plan.streams(panel.workload, distribution);
        String series = distribution.label();
        Recording recording =
            output.step(
                "figure " + panel.figure + ", " + series,
                directory -> {
                  try (FasterStore store =
                      CprStore.loaded(plan, CprStore.config(plan, directory).build())) {
                    store.checkpoint();
                    return LatencyRun.record(store, plan, streams, TIMES);
                  }
                });
        longest.addAll(recording.longest());
        add(recording, series, plot, csv);
      }
      output.write(to -> {
        csv.write(to.resolve(name + "-distribution.csv"));
        plot.write(to, name);
      });
    }
    return goals(longest);
  }

  /** The last interval is not whole; in some, on a busy machine, no operation may have ended. */
  private static void add(Recording recording, String series, LinePlot plot, Csv csv) {
    int intervals = Math.max(1, recording.intervals().size() - 1);
    List<Double> seconds = new ArrayList<>();
    List<Double> means = new ArrayList<>();
    for (int i = 0; i < intervals; i++) {
      Histogram histogram = recording.intervals().get(i);
      if (histogram.getTotalCount() > 0) {
        seconds.add(recording.seconds().get(i));
        means.add(histogram.getMean() / 1e3);
        csv.add(
            series,
            recording.seconds().get(i),
            histogram.getTotalCount(),
            histogram.getMean(),
            histogram.getValueAtPercentile(99.9),
            histogram.getMaxValue());
      }
    }
    if (!seconds.isEmpty()) {
      plot.add(series, seconds, means);
    }
  }

  private static List<Goal> goals(List<Longest> longest) {
    String which = "longest operation that met a checkpoint of the log, in memory";
    String many = longest.size() + " checkpoints; the longest of all of them is the last column";
    return List.of(
        Goal.atMost(
            which,
            "ms",
            WANTED_MILLIS,
            Spread.of(longest.stream().map(Longest::millis).toList()),
            many),
        Goal.atMost(
            which + ", less its wait for a processor",
            "ms",
            WANTED_MILLIS,
            ProcessorQueue.isKnown()
                ? Spread.of(longest.stream().map(Longest::ownMillis).toList())
                : null,
            ProcessorQueue.isKnown() ? many : "this system does not tell how long threads wait"));
  }
}
