package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.api.statistics.IndexStatistics;
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
 * Tests that state that has outgrown its index is restored to a store with a larger index, if no
 * memory has moved to the index before.
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

  /** Disk reads for each lookup of a key. */
  private static double readsALookup(FasterKeyedStateBackend<Integer> backend, int keys)
      throws Exception {
    ValueState<Long> state = state(backend);
    SplittableRandom random = new SplittableRandom(7);
    long before = backend.store().statistics().index().recordsFromDisk();
    for (int i = 0; i < LOOKUPS; i++) {
      int key = random.nextInt(keys);
      backend.setCurrentKey(key);
      assertThat(state.value()).isEqualTo(key);
    }
    long reads = backend.store().statistics().index().recordsFromDisk() - before;
    return (double) reads / LOOKUPS;
  }

  private static String reported(FasterStore store) {
    IndexStatistics index = store.statistics().index();
    return "indexBytes=%d, load=%.2f, logMemoryBytes=%d"
        .formatted(index.bytes(), index.load(), store.config().logMemoryBytes());
  }

  @Tag("slow")
  @Test
  void anIndexThatWasFullGetsMemoryOfTheLogsAndLookupsReadLess() throws Exception {
    FasterKeyedStateBackend<Integer> backend = filled(MANY);
    assertThat(backend.store().statistics().index().saturatedChains()).isPositive();
    double before = readsALookup(backend, MANY);
    FasterKeyedStateBackend<Integer> restored = backends.open(TestBackends.snapshot(backend));
    double after = readsALookup(restored, MANY);
    assertThat(after)
        .as("before: " + reported(backend.store()) + ", after: " + reported(restored.store()))
        .isLessThan(before);
    assertThat(restored.store().config().logMemoryBytes())
        .isLessThan(backend.store().config().logMemoryBytes());
    assertThat(restored.store().statistics().memoryBytes())
        .isLessThanOrEqualTo(backend.store().config().memoryBytes());
    // The log does not get the memory back while the state has this size.
    FasterKeyedStateBackend<Integer> again = backends.open(TestBackends.snapshot(restored));
    assertThat(again.store().config().logMemoryBytes())
        .isLessThanOrEqualTo(restored.store().config().logMemoryBytes());
  }

  /**
   * The old index has more entries than the new one will have, so the new one is filled record by
   * record.
   */
  @Tag("slow")
  @Test
  void aLogThatIsNotTakenAsItIsIsSplitAlike() throws Exception {
    int keys = 3 * MANY / 2;
    FasterKeyedStateBackend<Integer> backend = filled(keys);
    double before = readsALookup(backend, keys);
    FasterKeyedStateBackend<Integer> restored = backends.open(TestBackends.snapshot(backend));
    double after = readsALookup(restored, keys);
    assertThat(after)
        .as("before: " + reported(backend.store()) + ", after: " + reported(restored.store()))
        .isLessThan(before);
    assertThat(restored.store().config().logMemoryBytes())
        .isLessThan(backend.store().config().logMemoryBytes());
  }

  @Tag("slow")
  @Test
  void aStateThatFitsItsIndexLeavesTheLogItsMemory() throws Exception {
    FasterKeyedStateBackend<Integer> backend = filled(MANY / 4);
    assertThat(backend.store().statistics().index().saturatedChains()).isZero();
    FasterKeyedStateBackend<Integer> restored = backends.open(TestBackends.snapshot(backend));
    assertThat(restored.store().config().logMemoryBytes())
        .isEqualTo(backend.store().config().logMemoryBytes());
  }

  /** Each subtask has only some of the keys, but as much memory as the one before. */
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
