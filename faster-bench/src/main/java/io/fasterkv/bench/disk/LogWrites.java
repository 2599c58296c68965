package io.fasterkv.bench.disk;

import io.fasterkv.bench.workload.Parallel;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Blind updates of random keys by several threads with four fifths of the memory read-only, so that
 * most of them append (SIGMOD'18, section 7.3).
 */
final class LogWrites implements AutoCloseable {
  private static final double MUTABLE_FRACTION = 0.2;

  /** The log keeps a quarter of the data in memory. */
  private static final int MEMORY_SHARE = 4;

  private static final int KEYS_BETWEEN_LOOKS = 256;

  private final DiskPlan plan;
  private final Path directory;
  private final DiskStore store;
  private final SplittableRandom seeds = new SplittableRandom(2);
  private final int threads;

  LogWrites(DiskPlan plan, int threads) {
    this.plan = plan;
    this.threads = threads;
    directory = plan.directory().resolve("writes");
    long memory = Long.highestOneBit(plan.dataBytes() / MEMORY_SHARE);
    store = new DiskStore(directory, plan, memory, MUTABLE_FRACTION);
    for (long key = 0; key < plan.keys(); key++) {
      store.put(key, 0);
    }
  }

  /** Bytes a second that the process wrote, made durable before the clock stops. */
  double slice() throws IOException {
    force();
    long before = WrittenBytes.now(store.logBytes());
    long begin = System.nanoTime();
    long end = begin + plan.duration().toNanos();
    Parallel.run(
        threads,
        thread -> {
          SplittableRandom random = seeds.split();
          return () -> write(random, end);
        });
    force();
    return (WrittenBytes.now(store.logBytes()) - before) * 1e9 / (System.nanoTime() - begin);
  }

  private long write(SplittableRandom random, long end) {
    try (DiskStore.Writer writer = store.newWriter()) {
      long count = 0;
      do {
        for (int i = 0; i < KEYS_BETWEEN_LOOKS; i++) {
          writer.put(random.nextLong(plan.keys()), ++count);
        }
      } while (System.nanoTime() - end < 0);
      return count;
    }
  }

  /** Makes all files durable, so that the page cache does not improve the result. */
  private void force() throws IOException {
    List<Path> files;
    try (Stream<Path> entries = Files.list(directory)) {
      files = entries.filter(Files::isRegularFile).toList();
    }
    for (Path file : files) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.force(false);
      }
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
