package io.fasterkv.bench.cpr.rows;

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
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.KeyStream;
import io.fasterkv.bench.workload.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures how much throughput remains with frequent checkpoints of the log (FASTER's CPR, appendix
 * E.3 and figure 18): after a full one, one every few units of time. The rows leave a processor to
 * the threads of the checkpoint, as the paper's machine does; the result with operations on all
 * processors is reported beside it.
 */
public final class CheckpointRows implements CprPart {
  private static final double WARM_UP = 1;

  /** Checkpoints whose code is compiled while they run; they do not count. */
  private static final int FIRST_ONES = 4;

  private static final double BETWEEN_FIRST_ONES = 0.3;

  /** Time between checkpoints; the paper takes one every fifteen seconds. */
  private static final double BETWEEN = 6;

  private static final List<Wanted> KINDS =
      List.of(
          new Wanted(CheckpointKind.FOLD_OVER, 0.6),
          new Wanted(CheckpointKind.SNAPSHOT, 0.7),
          new Wanted(CheckpointKind.INCREMENTAL_SNAPSHOT, 0.7));

  private final CprPlan plan;
  private final CprPlan busy;

  private record Wanted(CheckpointKind kind, double ratio) {}

  public CheckpointRows(CprPlan plan) {
    this.plan = plan.withAProcessorToSpare();
    busy = plan;
  }

  @Override
  public int steps() {
    return KINDS.size() * (isBusyAnother() ? 2 : 1);
  }

  private boolean isBusyAnother() {
    return busy.threads() > plan.threads();
  }

  @Override
  public List<Goal> run(CprOutput output) throws IOException {
    List<KeyStream> streams = busy.streams(Workload.mix(50), Distribution.ZIPF);
    List<Goal> goals = new ArrayList<>();
    LinePlot plot =
        new LinePlot(
            "Throughput, checkpoints of the log alone, 50:50, Zipf", "s", "million operations/s");
    LinePlot log =
        new LinePlot(
            "Growth of the log, checkpoints of the log alone, 50:50, Zipf", "s", "10^6 bytes");
    Csv checkpoints = Mark.csv();
    for (Wanted wanted : KINDS) {
      String name = Labels.of(wanted.kind);
      Recording recording = record(plan, wanted.kind, streams, output);
      plot.add(name, recording.seconds(), recording.mops());
      log.add(name, recording.seconds(), recording.logMegabytes());
      recording.marks().forEach(mark -> mark.addTo(checkpoints, "18", name));
      String note = note(recording);
      if (isBusyAnother()) {
        note += "; all processors busy: " + note(record(busy, wanted.kind, streams, output));
      }
      goals.add(
          Goal.atLeast(
              "throughput during a checkpoint of the log, " + name + ", 50:50 Zipf, against rest",
              wanted.ratio,
              ratios(recording),
              note));
    }
    output.write(to -> plot.write(to, "figure-18a-log-only-throughput"));
    output.write(to -> log.write(to, "figure-18b-log-only-growth"));
    output.write(to -> checkpoints.write(to.resolve("figure-18-checkpoints.csv")));
    return goals;
  }

  private static Recording record(
      CprPlan plan, CheckpointKind kind, List<KeyStream> streams, CprOutput output)
      throws IOException {
    return output.step(
        "checkpoints of the log, " + Labels.of(kind) + ", threads=" + plan.threads(),
        directory -> {
          try (FasterStore store =
              CprStore.loaded(plan, CprStore.config(plan, directory).build())) {
            return ThroughputRun.record(
                store, plan, streams.subList(0, plan.threads()), run -> play(plan, run, kind));
          }
        });
  }

  private static void play(CprPlan plan, ThroughputRun run, CheckpointKind kind)
      throws InterruptedException {
    run.await(WARM_UP);
    run.checkpoint(CheckpointRequest.full(kind));
    for (int i = 1; i < FIRST_ONES; i++) {
      run.pause(BETWEEN_FIRST_ONES);
      run.checkpoint(CheckpointRequest.logOnly(kind));
    }
    for (int i = 0; i < plan.rounds(); i++) {
      run.pause(BETWEEN);
      run.checkpoint(CheckpointRequest.logOnly(kind));
    }
    run.pause(1);
  }

  private static List<Mark> counted(Recording recording) {
    return recording.marks().subList(FIRST_ONES, recording.marks().size());
  }

  private static Spread ratios(Recording recording) {
    return Spread.of(counted(recording).stream().map(Mark::ratio).toList());
  }

  private static String note(Recording recording) {
    Spread ratios = ratios(recording);
    Spread seconds = Spread.of(counted(recording).stream().map(Mark::seconds).toList());
    return String.format(
        Locale.ROOT,
        "%.2f (%.2f to %.2f), %d checkpoints of %.0f ms (%.0f to %.0f)",
        ratios.median(),
        ratios.min(),
        ratios.max(),
        counted(recording).size(),
        seconds.median() * 1e3,
        seconds.min() * 1e3,
        seconds.max() * 1e3);
  }
}
