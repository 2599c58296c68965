package io.fasterkv.bench.cpr.rows;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.bench.cpr.experiment.CprOutput;
import io.fasterkv.bench.cpr.experiment.CprPart;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.cpr.experiment.CprStore;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Labels;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.workload.Values;
import io.fasterkv.bench.workload.WrongAnswer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures the speed of recovering a store from a full checkpoint, in turn with reading the
 * checkpoint's files sequentially: the same files, both through the page cache after it was
 * dropped.
 *
 * <p>Each side runs twice in a row, and only the second time counts. The first one makes the system
 * commit its memory. On a virtual machine the host may have reclaimed memory that was free for two
 * seconds, and getting it back takes ten times as long as what is measured here.
 */
public final class RecoveryRow implements CprPart {
  private static final double WANTED = 0.7;
  private static final int KEYS_LOOKED_AT = 1000;
  private static final List<CheckpointKind> KINDS =
      List.of(CheckpointKind.FOLD_OVER, CheckpointKind.SNAPSHOT);

  private final CprPlan plan;

  public RecoveryRow(CprPlan plan) {
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
      goals.add(output.step("recovery, " + Labels.of(kind), directory -> measure(kind, directory)));
    }
    return goals;
  }

  private Goal measure(CheckpointKind kind, Path directory) throws IOException {
    StoreConfig config =
        CprStore.config(plan, directory).directIo(false).preallocate(false).build();
    try (FasterStore store = CprStore.loaded(plan, config)) {
      store.checkpoints().take(CheckpointRequest.full(kind));
    }
    CheckpointOnDisk checkpoint = new CheckpointOnDisk(directory);
    double bytes = checkpoint.bytes();
    List<Double> rates = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round <= plan.rounds(); round++) {
      // The second one finds more of the files in the host's memory, if there is a host.
      boolean isRecoveryFirst = round % 2 == 1;
      double early = isRecoveryFirst ? recovered(checkpoint, config) : checkpoint.secondReading();
      double late = isRecoveryFirst ? checkpoint.secondReading() : recovered(checkpoint, config);
      double recovering = isRecoveryFirst ? early : late;
      double reading = isRecoveryFirst ? late : early;
      if (round > 0) {
        rates.add(bytes * 1e3 / recovering);
        ratios.add(reading / recovering);
      }
    }
    return Goal.atLeast(
        "recovery with an index image, "
            + Labels.of(kind)
            + ", against reading the same files in order",
        WANTED,
        Spread.of(ratios),
        String.format(Locale.ROOT, "%.0f MB/s, ", Spread.of(rates).median())
            + (checkpoint.isForgotten()
                ? "files dropped from the page cache before both"
                : "FROM THE PAGE CACHE: there is no dd that drops files from it"));
  }

  /** Nanoseconds of the second of two recoveries. */
  private long recovered(CheckpointOnDisk checkpoint, StoreConfig config) throws IOException {
    checkpoint.reset();
    recover(config);
    checkpoint.reset();
    return recover(config);
  }

  /** Nanoseconds until the store is open; afterwards some keys are checked. */
  private long recover(StoreConfig config) {
    long begin = System.nanoTime();
    try (FasterStore store = FasterStore.recover(config)) {
      long nanos = System.nanoTime() - begin;
      check(store);
      return nanos;
    }
  }

  private void check(FasterStore store) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int i = 0; i < KEYS_LOOKED_AT; i++) {
        long key = plan.keys() * i / KEYS_LOOKED_AT;
        Status status = session.read(key, null);
        if (status != Status.FOUND || session.value() != Values.of(key, 0)) {
          throw new WrongAnswer(
              "a recovered value is wrong: key="
                  + key
                  + ", status="
                  + status
                  + ", value="
                  + Long.toHexString(session.value())
                  + ", allowed="
                  + Long.toHexString(Values.of(key, 0)));
        }
      }
    }
  }
}
