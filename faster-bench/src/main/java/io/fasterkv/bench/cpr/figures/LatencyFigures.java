package io.fasterkv.bench.cpr.figures;

import io.fasterkv.FasterStore;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.VersionShift;
import io.fasterkv.bench.cpr.experiment.CprOutput;
import io.fasterkv.bench.cpr.experiment.CprPart;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.cpr.experiment.CprStore;
import io.fasterkv.bench.cpr.figures.LatencyRun.Longest;
import io.fasterkv.bench.cpr.figures.LatencyRun.Recording;
import io.fasterkv.bench.report.Csv;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Labels;
import io.fasterkv.bench.report.LinePlot;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/**
 * Measures latency over time with checkpoints of the log, fold-over, for both version shifts
 * (FASTER's CPR, figure 14), and the longest operation with the fine-grained shift, which is the
 * default.
 */
public final class LatencyFigures implements CprPart {
  private static final List<Distribution> DISTRIBUTIONS =
      List.of(Distribution.ZIPF, Distribution.UNIFORM);
  private static final double WANTED_MILLIS = 5;

  /** When checkpoints are taken, and the end. */
  private static final double[] TIMES = {1, 2.2, 3.4, 4.6};

  private final CprPlan plan;

  private record Panel(String figure, Workload workload) {}

  private static final List<Panel> PANELS =
      List.of(new Panel("14a", Workload.UPSERT), new Panel("14b", Workload.RMW));

  public LatencyFigures(CprPlan plan) {
    this.plan = plan;
  }

  @Override
  public int steps() {
    return PANELS.size() * DISTRIBUTIONS.size() * VersionShift.values().length;
  }

  @Override
  public List<Goal> run(CprOutput output) throws IOException {
    List<Recording> recordings = new ArrayList<>();
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
        for (VersionShift shift : VersionShift.values()) {
          String series = Labels.of(shift) + ", " + distribution.label();
          Recording recording =
              output.step(
                  "figure " + panel.figure + ", " + series,
                  directory -> record(shift, streams, directory));
          if (shift == VersionShift.FINE) {
            recordings.add(recording);
          }
          add(recording, series, plot, csv);
        }
      }
      for (int i = 0; i + 1 < TIMES.length; i++) {
        plot.mark(plan.nanos(TIMES[i]) / 1e9);
      }
      output.write(to -> {
        csv.write(to.resolve(name + "-distribution.csv"));
        plot.write(to, name);
      });
    }
    return goals(recordings);
  }

  private Recording record(VersionShift shift, List<KeyStream> streams, Path directory) {
    StoreConfig config = CprStore.config(plan, directory).versionShift(shift).build();
    try (FasterStore store = CprStore.loaded(plan, config)) {
      store.checkpoints().take();
      return LatencyRun.record(store, plan, streams, TIMES);
    }
  }

  /** The last interval is incomplete; on a busy machine, others may have no ended operation. */
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

  private static List<Goal> goals(List<Recording> recordings) {
    String which =
        "longest operation that met a checkpoint of the log, fine-grained shift, in memory";
    return List.of(
        goal(which, recordings, Longest::millis),
        ProcessorQueue.isKnown()
            ? goal(which + ", less its wait for a processor", recordings, Longest::ownMillis)
            : Goal.atMost(
                which + ", less its wait for a processor",
                "ms",
                WANTED_MILLIS,
                null,
                "this system does not tell how long threads wait"));
  }

  private static Goal goal(
      String name, List<Recording> recordings, Function<Longest, Double> millis) {
    List<Double> longest =
        recordings.stream().flatMap(recording -> recording.longest().stream()).map(millis).toList();
    double calm =
        recordings.stream()
            .map(recording -> millis.apply(recording.calm()))
            .max(Double::compare)
            .orElse(0.0);
    return Goal.atMost(
        name,
        "ms",
        WANTED_MILLIS,
        Spread.of(longest),
        String.format(
            Locale.ROOT, "%d checkpoints; the longest that met none: %.2f", longest.size(), calm));
  }
}
