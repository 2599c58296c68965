package io.fasterkv.bench.cpr.figures;

import io.fasterkv.FasterStore;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.bench.cpr.experiment.CprOutput;
import io.fasterkv.bench.cpr.experiment.CprPart;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.cpr.experiment.CprStore;
import io.fasterkv.bench.cpr.experiment.Mark;
import io.fasterkv.bench.cpr.experiment.ThroughputRun;
import io.fasterkv.bench.cpr.experiment.ThroughputRun.Recording;
import io.fasterkv.bench.report.Csv;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Labels;
import io.fasterkv.bench.report.LinePlot;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Workload;
import java.io.IOException;
import java.util.List;

/**
 * Measures throughput and growth of the log over time, with two full checkpoints (FASTER's CPR,
 * figure 12), fold-over and snapshot, with uniform and Zipf-distributed keys.
 */
public final class ThroughputFigures implements CprPart {
  private static final List<Mix> MIXES =
      List.of(new Mix("12a", 90), new Mix("12b", 50), new Mix("12c", 0));
  private static final List<Distribution> DISTRIBUTIONS =
      List.of(Distribution.ZIPF, Distribution.UNIFORM);
  private static final List<CheckpointKind> KINDS =
      List.of(CheckpointKind.FOLD_OVER, CheckpointKind.SNAPSHOT);

  /** When checkpoints are taken, and the end, in units of time. */
  private static final double FIRST = 1.5;

  private static final double SECOND = 4.5;
  private static final double END = 7.5;

  private final CprPlan plan;

  private record Mix(String figure, int readPercent) {
    String label() {
      return readPercent + ":" + (100 - readPercent);
    }
  }

  public ThroughputFigures(CprPlan plan) {
    this.plan = plan;
  }

  @Override
  public int steps() {
    return MIXES.size() * DISTRIBUTIONS.size() * KINDS.size();
  }

  @Override
  public List<Goal> run(CprOutput output) throws IOException {
    Csv checkpoints = Mark.csv();
    for (Mix mix : MIXES) {
      LinePlot throughput =
          new LinePlot(
              "Throughput, full checkpoints, " + mix.label() + " reads:upserts",
              "s",
              "million operations/s");
      LinePlot log = new LinePlot("Growth of the log, " + mix.label(), "s", "10^6 bytes");
      for (Distribution distribution : DISTRIBUTIONS) {
        List<KeyStream> streams = plan.streams(Workload.mix(mix.readPercent), distribution);
        for (CheckpointKind kind : KINDS) {
          String series = Labels.of(kind) + ", " + distribution.label();
          Recording recording =
              output.step(
                  "figure " + mix.figure + ", " + series,
                  directory -> {
                    try (FasterStore store =
                        CprStore.loaded(plan, CprStore.config(plan, directory).build())) {
                      return ThroughputRun.record(
                          store, plan, streams, run -> twoCheckpoints(run, kind));
                    }
                  });
          throughput.add(series, recording.seconds(), recording.mops());
          log.add(series, recording.seconds(), recording.logMegabytes());
          for (Mark mark : recording.marks()) {
            mark.addTo(checkpoints, mix.figure, series);
          }
        }
      }
      markCommits(throughput);
      markCommits(log);
      output.write(to -> throughput.write(to, "figure-" + mix.figure + "-throughput"));
      if (mix.readPercent == 0) {
        output.write(to -> log.write(to, "figure-12d-log-growth"));
      }
    }
    output.write(to -> checkpoints.write(to.resolve("figure-12-checkpoints.csv")));
    return List.of();
  }

  /** A checkpoint begins a unit after its request: the run first measures the throughput. */
  private static void twoCheckpoints(ThroughputRun run, CheckpointKind kind)
      throws InterruptedException {
    run.await(FIRST - 1);
    run.checkpoint(CheckpointRequest.full(kind));
    run.await(SECOND - 1);
    run.checkpoint(CheckpointRequest.full(kind));
    run.await(END);
  }

  private void markCommits(LinePlot plot) {
    plot.mark(plan.nanos(FIRST) / 1e9);
    plot.mark(plan.nanos(SECOND) / 1e9);
  }
}
