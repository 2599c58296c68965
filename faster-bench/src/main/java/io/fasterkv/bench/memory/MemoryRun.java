package io.fasterkv.bench.memory;

import io.fasterkv.bench.disk.DiskPlan;
import io.fasterkv.bench.disk.DiskStore;
import io.fasterkv.bench.process.ProcessMemory;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.workload.Values;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Runs a store through its life and records the highest resident size of each phase.
 *
 * <p>The JVM's own memory is measured before, after a rehearsal with a small store, when classes
 * have been loaded and code has been compiled.
 */
public final class MemoryRun {
  private static final int DEPTH = 32;
  private static final double MUTABLE_FRACTION = 0.9;
  private static final long REHEARSAL_DATA_BYTES = 32L << 20;
  private static final long REHEARSAL_LOG_BYTES = 4L << 20;
  private static final int REHEARSALS = 3;
  private static final int UPDATES_PER_KEY = 2;
  private static final int LOG_SHARE = 2;

  private final long dataBytes;
  private final int valueBytes;
  private final long memoryBytes;
  private final Path directory;
  private final List<Phase> phases = new CopyOnWriteArrayList<>();

  /**
   * @param dataBytes the amount of data to load
   * @param memoryBytes the budget, at least half of which is for the log
   */
  public MemoryRun(long dataBytes, int valueBytes, long memoryBytes, Path directory) {
    this.dataBytes = dataBytes;
    this.valueBytes = valueBytes;
    this.memoryBytes = memoryBytes;
    this.directory = directory;
  }

  /**
   * One phase of the store's life.
   *
   * @param overBytes the highest resident size above the JVM's own and the budget; negative if the
   *     store does not touch all of its budget
   */
  public record Phase(String name, long residentBytes, long overBytes) {}

  /** The phases that have ended; for any thread. */
  List<Phase> phases() {
    return phases;
  }

  /** Runs it all. */
  public List<Phase> run() {
    try (Progress progress = Progress.start("memory", REHEARSALS + 7)) {
      for (int i = 0; i < REHEARSALS; i++) {
        progress.begin("rehearsing");
        life(
            "rehearsal" + i,
            REHEARSAL_DATA_BYTES,
            REHEARSAL_LOG_BYTES,
            (name, budget, part) -> part.run());
        progress.step();
      }
      System.gc();
      long own = ProcessMemory.residentBytes();
      life(
          "store",
          dataBytes,
          Long.highestOneBit(memoryBytes / LOG_SHARE),
          (name, budget, part) -> {
            progress.begin(name);
            ProcessMemory.resetPeak();
            part.run();
            long peak = ProcessMemory.peakBytes();
            phases.add(new Phase(name, peak, peak - own - budget));
            progress.step();
          });
    }
    return phases;
  }

  @FunctionalInterface
  private interface Watcher {
    void watch(String name, long budgetBytes, Runnable part);
  }

  private void life(String name, long data, long logMemory, Watcher watcher) {
    DiskPlan plan =
        new DiskPlan(data, valueBytes, DEPTH, Duration.ZERO, 1, directory.resolve(name));
    SplittableRandom random = new SplittableRandom(1);
    try (DiskStore store = new DiskStore(plan.directory(), plan, logMemory, MUTABLE_FRACTION)) {
      long budget = store.budgetBytes();
      watcher.watch("load", budget, () -> load(store, plan));
      watcher.watch("read", budget, () -> read(store, plan, random));
      watcher.watch("rmw", budget, () -> rmw(store, plan, random));
      watcher.watch("upsert", budget, () -> upsert(store, plan, random));
      watcher.watch("growth", budget, store::grow);
      watcher.watch("compaction", budget, store::compact);
      watcher.watch("scan", budget, store::scan);
    }
  }

  private static void load(DiskStore store, DiskPlan plan) {
    for (long key = 0; key < plan.keys(); key++) {
      store.put(key, 0);
    }
  }

  private static void read(DiskStore store, DiskPlan plan, SplittableRandom random) {
    long expected = 0;
    for (long i = 0; i < plan.keys() / 4; i++) {
      long key = random.nextLong(plan.keys());
      expected += Values.fingerprint(key);
      store.read(key, plan.depth());
    }
    store.settle(expected);
  }

  private static void rmw(DiskStore store, DiskPlan plan, SplittableRandom random) {
    for (long i = 0; i < plan.keys() / 4; i++) {
      store.rmw(random.nextLong(plan.keys()));
    }
  }

  private static void upsert(DiskStore store, DiskPlan plan, SplittableRandom random) {
    for (long i = 0; i < plan.keys() * UPDATES_PER_KEY; i++) {
      store.put(random.nextLong(plan.keys()), i);
    }
  }
}
