package io.fasterkv.bench.cpr;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.bench.report.Labels;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.rows.Goal;
import io.fasterkv.bench.workload.Values;
import io.fasterkv.bench.ycsb.WrongAnswer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How fast a store comes back from a full checkpoint, in turn with reading the checkpoint's files
 * from begin to end: the same files, and both through the page cache, which has forgotten them.
 *
 * <p>Each side runs twice in a row, and the second time counts. The first takes its memory from the
 * machine; where that is a virtual one, its host may have taken back what was free for two seconds,
 * and getting it again is ten times as slow as anything that is measured here.
 */
final class RecoveryRow implements CprPart {
  private static final double WANTED = 0.7;
  private static final int KEYS_LOOKED_AT = 1000;
  private static final List<CheckpointKind> KINDS =
      List.of(CheckpointKind.FOLD_OVER, CheckpointKind.SNAPSHOT);

  private final CprPlan plan;

  RecoveryRow(CprPlan plan) {
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
      store.checkpoint(CheckpointRequest.full(kind));
    }
    CheckpointOnDisk checkpoint = new CheckpointOnDisk(directory);
    double bytes = checkpoint.bytes();
    List<Double> rates = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round <= plan.rounds(); round++) {
      // Whichever comes second finds more of the files in the host's memory, if there is a host.
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

  /** Nanoseconds until the store is open; some keys are looked at after that. */
  private long recover(StoreConfig config) {
    long begin = System.nanoTime();
    try (FasterStore store = FasterStore.recover(config)) {
      long nanos = System.nanoTime() - begin;
      check(store);
      return nanos;
    }
  }

  private void check(FasterStore store) {
    try (LongSession<Void> session =
        store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
      for (int i = 0; i < KEYS_LOOKED_AT; i++) {
        long key = plan.keys() * i / KEYS_LOOKED_AT;
        Status status = session.read(key, null);
        if (status != Status.FOUND || session.value() != Values.of(key, 0)) {
          throw new WrongAnswer(
              "recovery has not brought back what was written: key="
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
