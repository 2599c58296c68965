package io.fasterkv.bench.cpr.figures;

import io.fasterkv.FasterStore;
import io.fasterkv.bench.cpr.experiment.CprOutput;
import io.fasterkv.bench.cpr.experiment.CprPart;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.cpr.experiment.CprStore;
import io.fasterkv.bench.cpr.figures.BufferRun.Result;
import io.fasterkv.bench.report.BarPlot;
import io.fasterkv.bench.report.Csv;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Measures the throughput of clients that buffer what is not durable, against the size of the
 * buffer (FASTER's CPR, figure 15): a buffer that is four fifths full requests a checkpoint of the
 * log, and a full one makes its client wait.
 */
public final class BufferFigure implements CprPart {
  private static final List<Distribution> DISTRIBUTIONS =
      List.of(Distribution.ZIPF, Distribution.UNIFORM);
  private static final List<Integer> KIBIBYTES = List.of(32, 256, 2048, 16384, 65536);

  /** In units of time. */
  private static final double WARM_UP = 0.5;

  private static final double TIME = 2;

  private final CprPlan plan;

  public BufferFigure(CprPlan plan) {
    this.plan = plan;
  }

  @Override
  public int steps() {
    return DISTRIBUTIONS.size();
  }

  @Override
  public List<Goal> run(CprOutput output) throws IOException {
    Map<Distribution, List<Result>> results = new EnumMap<>(Distribution.class);
    for (Distribution distribution : DISTRIBUTIONS) {
      List<KeyStream> streams = plan.streams(Workload.mix(50), distribution);
      results.put(
          distribution,
          output.step(
              "figure 15, " + distribution.label(),
              directory -> {
                try (FasterStore store =
                    CprStore.loaded(plan, CprStore.config(plan, directory).build())) {
                  return measure(store, streams);
                }
              }));
    }
    output.write(to -> csv(results).write(to.resolve("figure-15-client-buffers.csv")));
    output.write(to -> plot(results).write(to.resolve("figure-15-client-buffers.png")));
    return List.of();
  }

  private List<Result> measure(FasterStore store, List<KeyStream> streams) {
    store.checkpoints().take();
    List<Result> results = new ArrayList<>();
    for (int kibibytes : KIBIBYTES) {
      results.add(BufferRun.run(store, plan, streams, kibibytes * 1024L, WARM_UP, TIME));
    }
    return results;
  }

  private static Csv csv(Map<Distribution, List<Result>> results) {
    Csv csv =
        new Csv(
            "series",
            "client buffer KiB",
            "million operations/s",
            "commits",
            "ms a commit",
            "ms between commits");
    results.forEach((distribution, list) -> {
      for (int i = 0; i < list.size(); i++) {
        Result result = list.get(i);
        csv.add(
            distribution.label(),
            KIBIBYTES.get(i),
            result.mops(),
            result.commits(),
            result.commitMillis(),
            result.intervalMillis());
      }
    });
    return csv;
  }

  private static BarPlot plot(Map<Distribution, List<Result>> results) {
    List<String> categories = new ArrayList<>();
    for (int i = 0; i < KIBIBYTES.size(); i++) {
      List<String> intervals = new ArrayList<>();
      for (Distribution distribution : results.keySet()) {
        intervals.add(
            String.format(Locale.ROOT, "%.0f", results.get(distribution).get(i).intervalMillis()));
      }
      categories.add(KIBIBYTES.get(i) + " KiB: " + String.join(" / ", intervals) + " ms");
    }
    String order = String.join(" / ", results.keySet().stream().map(Distribution::label).toList());
    BarPlot plot =
        new BarPlot(
            "Client buffers trimmed by commits, 50:50",
            "buffer of a client: time between commits, " + order,
            "million operations/s",
            categories);
    results.forEach((distribution, list) ->
        plot.add(distribution.label(), list.stream().map(Result::mops).toList()));
    return plot;
  }
}
