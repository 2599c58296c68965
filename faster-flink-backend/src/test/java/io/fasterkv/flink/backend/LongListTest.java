package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests one list of {@code -Dlist.mebibytes=} MiB, 256 by default; the store has 32 MiB. The test
 * appends to the list, reads it, writes an incremental checkpoint, reads the list from that, and
 * clears it. A list that is longer than the heap shows that none of these has all of it on the
 * heap.
 */
@Tag("long")
@Timeout(value = 2, unit = TimeUnit.HOURS)
class LongListTest {
  private static final ListStateDescriptor<byte[]> LIST =
      new ListStateDescriptor<>("list", BytePrimitiveArraySerializer.INSTANCE);
  private static final int ELEMENT_BYTES = 1000;

  private final long bytes = Long.getLong("list.mebibytes", 256) << 20;
  private final long elements = bytes / ELEMENT_BYTES;
  private final byte[] element = new byte[ELEMENT_BYTES];

  @TempDir Path directory;

  @Test
  void aLongListIsReadPieceByPiece() throws Exception {
    try (TestBackends backends = new TestBackends(config())) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      backend.setCurrentKey(1);
      ListState<byte[]> list = ModelStates.state(backend, LIST);
      long appended = timed("append", () -> append(list));
      assertThat(timed("read", () -> read(list))).isEqualTo(appended);
      KeyedStateHandle handle =
          timed(
              "checkpoint",
              () ->
                  TestBackends.finish(
                      TestBackends.start(
                          backend, CheckpointFiles.below(directory.resolve("files")))));
      assertThat(handle.getStateSize()).isGreaterThan(bytes);
      timed("clear", () -> clear(list));
      backend.dispose();

      FasterKeyedStateBackend<Integer> restored = timed("restore", () -> backends.open(handle));
      restored.setCurrentKey(1);
      ListState<byte[]> same = ModelStates.state(restored, LIST);
      assertThat(timed("read what was restored", () -> read(same))).isEqualTo(appended);
      timed("clear what was restored", () -> clear(same));
    }
  }

  private Configuration config() throws Exception {
    Path local = Files.createDirectories(directory.resolve("local"));
    return TestSettings.ROOMY_INCREMENTAL
        .config()
        .set(FasterOptions.LOCAL_DIRECTORIES, List.of(local.toString()));
  }

  /** Appends random elements, which are not compressed; returns their checksum. */
  private long append(ListState<byte[]> list) throws Exception {
    CRC32C sum = new CRC32C();
    SplittableRandom random = new SplittableRandom(1);
    for (long i = 0; i < elements; i++) {
      random.nextBytes(element);
      sum.update(element);
      list.add(element);
    }
    return sum.getValue();
  }

  private long read(ListState<byte[]> list) throws Exception {
    CRC32C sum = new CRC32C();
    long count = 0;
    for (byte[] stored : list.get()) {
      sum.update(stored);
      count++;
    }
    assertThat(count).isEqualTo(elements);
    return sum.getValue();
  }

  private static boolean clear(ListState<byte[]> list) throws Exception {
    list.clear();
    assertThat(list.get()).isNull();
    return true;
  }

  private interface Step<T> {
    T run() throws Exception;
  }

  /** Reports how long a step takes, and how much heap is used during it at most. */
  private static <T> T timed(String name, Step<T> step) throws Exception {
    System.gc();
    List<MemoryPoolMXBean> heap =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .toList();
    heap.forEach(MemoryPoolMXBean::resetPeakUsage);
    long start = System.nanoTime();
    T result = step.run();
    double seconds = (System.nanoTime() - start) / 1e9;
    long peak = heap.stream().mapToLong(pool -> pool.getPeakUsage().getUsed()).sum();
    System.out.println(
        String.format(Locale.ROOT, "%s: %.1f s, heap at most %d MiB", name, seconds, peak >> 20));
    return result;
  }
}
