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
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How fast a store comes back from a full checkpoint, in turn with reading all of the checkpoint's
 * files from begin to end. Both through the page cache, which has forgotten the files before.
 */
final class RecoveryRow implements CprPart {
  private static final double WANTED = 0.7;
  private static final int READ_BYTES = 1 << 20;
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
    StoreConfig config = CprStore.config(plan, directory).directIo(false).build();
    try (FasterStore store = CprStore.loaded(plan, config)) {
      store.checkpoint(CheckpointRequest.full(kind));
    }
    boolean isForgotten = true;
    List<Double> rates = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round <= plan.rounds(); round++) {
      isForgotten &= PageCache.forget(directory);
      long begin = System.nanoTime();
      long bytes = readAll(directory);
      double reading = bytes * 1e9 / (System.nanoTime() - begin);
      isForgotten &= PageCache.forget(directory);
      double recovering = bytes * 1e9 / recover(config);
      if (round > 0) {
        rates.add(recovering / 1e6);
        ratios.add(recovering / reading);
      }
    }
    return Goal.atLeast(
        "recovery with an index image, "
            + Labels.of(kind)
            + ", against reading the same files in order",
        WANTED,
        Spread.of(ratios),
        String.format(Locale.ROOT, "%.0f MB/s, ", Spread.of(rates).median())
            + (isForgotten
                ? "files dropped from the page cache before both"
                : "FROM THE PAGE CACHE: there is no dd that drops files from it"));
  }

  private static long readAll(Path directory) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);
    long bytes = 0;
    for (Path file : PageCache.files(directory)) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        for (int read; (read = channel.read(buffer.clear())) > 0; ) {
          bytes += read;
        }
      }
    }
    return bytes;
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
