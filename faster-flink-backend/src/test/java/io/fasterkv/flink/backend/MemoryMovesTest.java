package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.api.MemoryUse;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The index gets memory of the log's as state grows, and keeps it over a restore. */
class MemoryMovesTest {
  private static final int LOOKUPS = 20_000;
  private static final int FEW = 10_000;
  private static final long PAUSE_NANOS = 1_000_000;

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
    first = store.memoryUse();
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

  /** Puts keys until the log has so little memory; returns how many there are. */
  private int putUntilLogHas(long bytes) throws Exception {
    int keys = 0;
    for (; store.memoryUse().logBytes() > bytes; keys++) {
      put(backend, keys);
      assertThat(store.memoryBytes()).isLessThanOrEqualTo(store.config().memoryBytes());
      if (keys % 100 == 0) {
        // Else the index is full before a thread has moved the memory.
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
    assertThat(store.memoryUse().logBytes()).isEqualTo(first.logBytes());
    assertThat(store.memoryUse().indexBytes()).isEqualTo(first.indexBytes());
  }

  @Test
  void noRecordsShareEntriesAsLongAsTheLogHasMemoryToGive() throws Exception {
    int keys = putUntilLogHas(first.logBytes() / 4);
    MemoryUse moved = store.memoryUse();
    assertThat(moved.logBytes()).isEqualTo(first.logBytes() / 4);
    assertThat(moved.indexBytes()).isEqualTo(first.indexBytes() + first.logBytes() * 3 / 4);
    assertThat(store.indexStatistics().saturatedChains()).isZero();
    check(backend, keys);
  }

  @Test
  void aRestoredStoreHasWhatTheIndexNeeds() throws Exception {
    int keys = putUntilLogHas(first.logBytes() / 4);
    FasterKeyedStateBackend<Integer> restored = backends.open(TestBackends.snapshot(backend));
    check(restored, keys);
    FasterStore again = restored.store();
    assertThat(again.config().logMemoryBytes()).isLessThan(first.logBytes());
    assertThat(again.config().logMemoryBytes() >> again.config().logHalvings())
        .as("no less than a quarter in the end")
        .isEqualTo(first.logBytes() / 4);
    assertThat(again.memoryBytes()).isLessThanOrEqualTo(store.config().memoryBytes());
  }
}
