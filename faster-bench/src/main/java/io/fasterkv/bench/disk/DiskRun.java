package io.fasterkv.bench.disk;

import io.fasterkv.bench.report.Progress;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** Measures store and fio in turn, on one directory. */
public final class DiskRun {
  /** fio rewrites its file from its start when it is full before the time is over. */
  private static final long WRITE_FILE_BYTES = 4L << 30;

  private final List<DiskRow> rows = new CopyOnWriteArrayList<>();
  private final DiskPlan plan;
  private final Optional<Fio> readFio;
  private final Optional<Fio> writeFio;

  public DiskRun(DiskPlan plan) {
    this.plan = plan;
    readFio = fio("fio.reads", plan.dataBytes());
    writeFio = fio("fio.writes", WRITE_FILE_BYTES);
  }

  private Optional<Fio> fio(String file, long bytes) {
    return Fio.find().map(program -> new Fio(program, plan.directory().resolve(file), bytes));
  }

  /** The rows that have been measured in at least one round; for any thread. */
  List<DiskRow> measured() {
    return rows.stream().filter(row -> !row.store().isEmpty()).toList();
  }

  /** Whether there is something to compare with. */
  public boolean hasFio() {
    return readFio.isPresent();
  }

  /** Random reads, in thousands a second. */
  public DiskRow reads() throws IOException {
    try (RandomReads store = new RandomReads(plan)) {
      DiskRow row = DiskRow.of("random reads, depth " + plan.depth(), "thousand/s");
      alternate(
          row,
          () -> store.slice() / 1e3,
          readFio.map(fio -> () -> fio.randomReads(plan.depth(), plan.duration()) / 1e3));
      return row;
    }
  }

  /** Sequential writes of records of one size, in MB a second. */
  public DiskRow writes(int valueBytes, int threads) throws IOException {
    try (LogWrites store = new LogWrites(plan.withValueBytes(valueBytes), threads)) {
      DiskRow row =
          DiskRow.of("log writes, 0:100, 80 % read-only, " + valueBytes + " bytes", "MB/s");
      alternate(
          row,
          () -> store.slice() / 1e6,
          writeFio.map(fio -> () -> fio.sequentialWrites(plan.duration()) / 1e6));
      return row;
    }
  }

  @FunctionalInterface
  private interface Measurement {
    double measure() throws IOException;
  }

  /** Runs a round that does not count, and then the rounds. */
  private void alternate(DiskRow row, Measurement store, Optional<Measurement> fio)
      throws IOException {
    rows.add(row);
    try (Progress progress = Progress.start("disk", 2L * plan.rounds() + 2)) {
      for (int round = 0; round <= plan.rounds(); round++) {
        progress.begin("round " + round + ", store, " + row.name());
        double measured = store.measure();
        progress.step();
        progress.begin("round " + round + ", fio, " + row.name());
        Optional<Double> other =
            fio.isPresent() ? Optional.of(fio.get().measure()) : Optional.empty();
        progress.step();
        if (round > 0) {
          row.store().add(measured);
          other.ifPresent(row.fio()::add);
        }
      }
    }
  }
}
