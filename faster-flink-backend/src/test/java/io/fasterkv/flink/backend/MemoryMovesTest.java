package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.api.statistics.MemoryUse;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.event.Level;

/**
 * Tests that the index receives memory from the log as state grows, and keeps it across a restore.
 */
class MemoryMovesTest {
  private static final int LOOKUPS = 20_000;
  private static final int FEW = 10_000;
  private static final long PAUSE_NANOS = 1_000_000;

  @RegisterExtension
  private final LoggerAuditingExtension log =
      new LoggerAuditingExtension(OperatorLog.NAME, Level.INFO);

  @TempDir Path directory;

  private TestBackends backends;
  private FasterKeyedStateBackend<Integer> backend;
  private FasterStore store;
  private MemoryUse first;

  @BeforeEach
  void open() throws Exception {
    backends = new TestBackends(TestSettings.TINY_INCREMENTAL, directory);
    backend = backends.open();
    store = backend.store();
    first = store.statistics().memory();
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
  }

  private static ValueState<Long> state(FasterKeyedStateBackend<Integer> backend) throws Exception {
    return backend.getPartitionedState(
        VoidNamespace.INSTANCE,
        VoidNamespaceSerializer.INSTANCE,
        new ValueStateDescriptor<>("value", Long.class));
  }

  private static void put(FasterKeyedStateBackend<Integer> backend, int key) throws Exception {
    backend.setCurrentKey(key);
    state(backend).update((long) key);
  }

  /** Adds keys until the log's memory has shrunk to {@code bytes}; returns the number of keys. */
  private int putUntilLogHas(long bytes) throws Exception {
    int keys = 0;
    for (; store.statistics().memory().logBytes() > bytes; keys++) {
      put(backend, keys);
      assertThat(store.statistics().memoryBytes())
          .isLessThanOrEqualTo(store.config().memoryBytes());
      if (keys % 100 == 0) {
        // Without a pause, the index is full before a thread has moved the memory.
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    return keys;
  }

  private static void check(FasterKeyedStateBackend<Integer> backend, int keys) throws Exception {
    ValueState<Long> state = state(backend);
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < LOOKUPS; i++) {
      int key = random.nextInt(keys);
      backend.setCurrentKey(key);
      assertThat(state.value()).isEqualTo(key);
    }
  }

  @Test
  void aStateThatFitsTheIndexLeavesTheLogItsMemory() throws Exception {
    for (int key = 0; key < FEW; key++) {
      put(backend, key);
    }
    assertThat(store.statistics().memory().logBytes()).isEqualTo(first.logBytes());
    assertThat(store.statistics().memory().indexBytes())
        .isLessThanOrEqualTo(store.config().indexBytes());
  }

  @Tag("slow")
  @Test
  void noRecordsShareEntriesAsLongAsTheLogHasMemoryToGive() throws Exception {
    int keys = putUntilLogHas(first.logBytes() / 4);
    MemoryUse moved = store.statistics().memory();
    assertThat(moved.logBytes()).isEqualTo(first.logBytes() / 4);
    assertThat(moved.indexBytes())
        .as("the index uses the last loan piece by piece")
        .isBetween(
            store.config().indexBytes() + first.logBytes() / 2,
            store.config().indexBytes() + first.logBytes() * 3 / 4);
    assertThat(store.statistics().index().saturatedChains()).isZero();
    check(backend, keys);
  }

  @Tag("slow")
  @Test
  void aRestoredStoreGivesTheIndexWhatItNeeds() throws Exception {
    int keys = putUntilLogHas(first.logBytes() / 4);
    FasterKeyedStateBackend<Integer> restored = backends.open(TestBackends.snapshot(backend));
    check(restored, keys);
    FasterStore again = restored.store();
    assertThat(again.config().logMemoryBytes()).isLessThan(first.logBytes());
    assertThat(again.config().logMemoryBytes() >> again.config().logHalvings())
        .as("the log keeps a quarter of its memory")
        .isEqualTo(first.logBytes() / 4);
    String operator = "test operator (1/1): ";
    assertThat(log.getMessages())
        .allMatch(line -> line.startsWith(operator))
        .anyMatch(line -> line.startsWith(operator + "the index was nearly full and received "))
        .anyMatch(line -> line.startsWith(operator + "the index of the restored state received "));
    assertThat(again.statistics().memoryBytes()).isLessThanOrEqualTo(store.config().memoryBytes());
  }
}
