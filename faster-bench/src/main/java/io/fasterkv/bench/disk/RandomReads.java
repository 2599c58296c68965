package io.fasterkv.bench.disk;

import io.fasterkv.bench.workload.Values;
import java.util.SplittableRandom;

/** Reads of random records, nearly all of which are on disk. */
final class RandomReads implements AutoCloseable {
  /** The part of the data in memory: a thirty-second. */
  private static final int MEMORY_SHARE = 32;

  private static final long LEAST_MEMORY_BYTES = 8L << 20;
  private static final double MUTABLE_FRACTION = 0.9;

  private final DiskPlan plan;
  private final DiskStore store;
  private final SplittableRandom random = new SplittableRandom(1);
  private long expected;

  RandomReads(DiskPlan plan) {
    this.plan = plan;
    long memory = Math.max(LEAST_MEMORY_BYTES, Long.highestOneBit(plan.dataBytes() / MEMORY_SHARE));
    store = new DiskStore(plan.directory().resolve("reads"), plan, memory, MUTABLE_FRACTION);
    for (long key = 0; key < plan.keys(); key++) {
      store.put(key, 0);
    }
  }

  /** Records read from disk in a second. */
  double slice() {
    long before = store.reads().fromDisk;
    long begin = System.nanoTime();
    long end = begin + plan.duration().toNanos();
    do {
      long key = random.nextLong(plan.keys());
      expected += Values.fingerprint(key);
      store.read(key, plan.depth());
    } while (System.nanoTime() - end < 0);
    store.settle(expected);
    return (store.reads().fromDisk - before) * 1e9 / (System.nanoTime() - begin);
  }

  @Override
  public void close() {
    store.close();
  }
}
