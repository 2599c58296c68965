package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.api.IndexStatistics;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A state that has outgrown its index is restored to a store with a larger one, where memory does
 * not move before.
 */
@Tag("no-native-access")
class MemorySplitTest {
  private static final int MANY = 70_000;
  private static final int LOOKUPS = 20_000;

  @TempDir Path directory;

  private TestBackends backends;

  @AfterEach
  void close() throws Exception {
    backends.close();
  }

  private FasterKeyedStateBackend<Integer> filled(int keys) throws Exception {
    backends = new TestBackends(TestSettings.TINY_INCREMENTAL, directory);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    ValueState<Long> state = state(backend);
    for (int key = 0; key < keys; key++) {
      backend.setCurrentKey(key);
      state.update((long) key);
    }
    return backend;
  }

  private static ValueState<Long> state(FasterKeyedStateBackend<Integer> backend) throws Exception {
    return backend.getPartitionedState(
        VoidNamespace.INSTANCE,
        VoidNamespaceSerializer.INSTANCE,
        new ValueStateDescriptor<>("value", Long.class));
  }

  /** Reads of the disk for each look-up of some key. */
  private static double readsALookup(FasterKeyedStateBackend<Integer> backend, int keys)
      throws Exception {
    ValueState<Long> state = state(backend);
    SplittableRandom random = new SplittableRandom(7);
    long before = backend.store().indexStatistics().recordsFromDisk();
    for (int i = 0; i < LOOKUPS; i++) {
      int key = random.nextInt(keys);
      backend.setCurrentKey(key);
      assertThat(state.value()).isEqualTo(key);
    }
    long reads = backend.store().indexStatistics().recordsFromDisk() - before;
    return (double) reads / LOOKUPS;
  }

  private static String told(FasterStore store) {
    IndexStatistics index = store.indexStatistics();
    return "indexBytes=%d, load=%.2f, logMemoryBytes=%d"
        .formatted(index.bytes(), index.load(), store.config().logMemoryBytes());
  }

  @Test
  void anIndexThatWasFullGetsMemoryOfTheLogsAndLookupsReadLess() throws Exception {
    FasterKeyedStateBackend<Integer> backend = filled(MANY);
    assertThat(backend.store().indexStatistics().saturatedChains()).isPositive();
    double before = readsALookup(backend, MANY);
    FasterKeyedStateBackend<Integer> restored = backends.open(TestBackends.snapshot(backend));
    double after = readsALookup(restored, MANY);
    assertThat(after)
        .as("before: " + told(backend.store()) + ", after: " + told(restored.store()))
        .isLessThan(before);
    assertThat(restored.store().config().logMemoryBytes())
        .isLessThan(backend.store().config().logMemoryBytes());
    assertThat(restored.store().memoryBytes())
        .isLessThanOrEqualTo(backend.store().config().memoryBytes());
    // It is not taken back while the state is as large.
    FasterKeyedStateBackend<Integer> again = backends.open(TestBackends.snapshot(restored));
    assertThat(again.store().config().logMemoryBytes())
        .isLessThanOrEqualTo(restored.store().config().logMemoryBytes());
  }

  /** Its index has more entries than the new one will have: it is filled record by record. */
  @Test
  void aLogThatIsNotTakenAsItIsIsSplitAlike() throws Exception {
    int keys = 3 * MANY / 2;
    FasterKeyedStateBackend<Integer> backend = filled(keys);
    double before = readsALookup(backend, keys);
    FasterKeyedStateBackend<Integer> restored = backends.open(TestBackends.snapshot(backend));
    double after = readsALookup(restored, keys);
    assertThat(after)
        .as("before: " + told(backend.store()) + ", after: " + told(restored.store()))
        .isLessThan(before);
    assertThat(restored.store().config().logMemoryBytes())
        .isLessThan(backend.store().config().logMemoryBytes());
  }

  @Test
  void aStateThatFitsItsIndexLeavesTheLogItsMemory() throws Exception {
    FasterKeyedStateBackend<Integer> backend = filled(MANY / 4);
    assertThat(backend.store().indexStatistics().saturatedChains()).isZero();
    FasterKeyedStateBackend<Integer> restored = backends.open(TestBackends.snapshot(backend));
    assertThat(restored.store().config().logMemoryBytes())
        .isEqualTo(backend.store().config().logMemoryBytes());
  }

  /** Each of several subtasks has a part of the keys, and all of the memory. */
  @Test
  void anIndexThatWasFullAndIsSplitIsNotFullAnyMore() throws Exception {
    FasterKeyedStateBackend<Integer> backend = filled(MANY);
    KeyedStateHandle handle = TestBackends.snapshot(backend);
    FasterKeyedStateBackend<Integer> quarter =
        backends.open(KeyGroupRange.of(0, 7), List.of(handle));
    assertThat(quarter.store().config().logMemoryBytes())
        .isEqualTo(backend.store().config().logMemoryBytes());
  }
}
