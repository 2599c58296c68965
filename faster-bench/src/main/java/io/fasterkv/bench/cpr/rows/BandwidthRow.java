package io.fasterkv.bench.cpr.rows;

import io.fasterkv.FasterStore;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.bench.cpr.experiment.CprOutput;
import io.fasterkv.bench.cpr.experiment.CprPart;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.cpr.experiment.CprStore;
import io.fasterkv.bench.disk.Fio;
import io.fasterkv.bench.disk.WrittenBytes;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Labels;
import io.fasterkv.bench.report.Spread;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Measures the write speed of full checkpoints, in turn with fio's sequential writes to the same
 * directory. Before each one all records are written again; nothing else runs.
 */
public final class BandwidthRow implements CprPart {
  private static final double WANTED = 0.7;
  private static final long FIO_FILE_BYTES = 4L << 30;
  private static final double FIO_UNITS = 1.2;
  private static final List<CheckpointKind> KINDS =
      List.of(CheckpointKind.FOLD_OVER, CheckpointKind.SNAPSHOT);

  private final CprPlan plan;

  public BandwidthRow(CprPlan plan) {
    this.plan = plan;
  }

  @Override
  public int steps() {
    return KINDS.size();
  }

  @Override
  public List<Goal> run(CprOutput output) throws IOException {
    List<Goal> goals = new ArrayList<>();
    for (CheckpointKind kind : KINDS) {
      goals.add(
          output.step(
              "checkpoint and fio, " + Labels.of(kind), directory -> measure(kind, directory)));
    }
    return goals;
  }

  private Goal measure(CheckpointKind kind, Path directory) throws IOException {
    Optional<Fio> fio =
        Fio.find().map(program -> new Fio(program, directory.resolve("fio.data"), FIO_FILE_BYTES));
    List<Double> rates = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    try (FasterStore store =
        CprStore.loaded(plan, CprStore.config(plan, directory.resolve("store")).build())) {
      Optional<CheckpointToken> older = Optional.empty();
      for (int round = 0; round <= plan.rounds(); round++) {
        CprStore.write(plan, store, round);
        long before = WrittenBytes.now(0);
        long begin = System.nanoTime();
        CheckpointToken token = store.checkpoints().take(CheckpointRequest.full(kind));
        double seconds = (System.nanoTime() - begin) / 1e9;
        double rate = (WrittenBytes.now(CprStore.dataBytes(plan)) - before) / seconds;
        older.ifPresent(store.checkpoints()::remove);
        older = Optional.of(token);
        if (round > 0) { // the first one creates files and compiles code
          rates.add(rate / 1e6);
          if (fio.isPresent()) {
            ratios.add(rate / fio.get().sequentialWrites(fioTime()));
          }
        }
      }
    }
    Spread rate = Spread.of(rates);
    return Goal.atLeast(
        "bandwidth of a full checkpoint, " + Labels.of(kind) + ", against fio's sequential write",
        WANTED,
        ratios.isEmpty() ? null : Spread.of(ratios),
        String.format(Locale.ROOT, "%.0f MB/s", rate.median())
            + (fio.isPresent() ? "" : "; " + Fio.HOW_TO_GET));
  }

  private Duration fioTime() {
    return Duration.ofNanos(plan.nanos(FIO_UNITS));
  }
}
