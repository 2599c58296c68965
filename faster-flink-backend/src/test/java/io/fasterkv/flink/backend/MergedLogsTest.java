package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what is restored from the logs of several subtasks that started from the same log. */
@Tag("long")
class MergedLogsTest extends IncrementalCheckpoints {
  /** The log of one half is opened unchanged; it lacks the other half's keys. */
  @Test
  void logsAreTakenAsTheyAreWhenSubtasksAreMergedAndSplit() throws Exception {
    FasterKeyedStateBackend<Integer> whole = open(TestSettings.ROOMY_INCREMENTAL);
    put(whole, 0, 20_000, 1);
    IncrementalRemoteKeyedStateHandle ofWhole = take(whole);
    List<KeyedStateHandle> halves = new ArrayList<>();
    for (KeyGroupRange range : List.of(KeyGroupRange.of(0, 9), KeyGroupRange.of(10, 31))) {
      FasterKeyedStateBackend<Integer> half = backends.open(range, List.of(ofWhole));
      assertHolds(half, 0, 20_000, 1);
      long own = half.getKeys("value", VoidNamespace.INSTANCE).count();
      assertThat(half.numKeyValueStateEntries()).isEqualTo((int) own).isLessThan(20_000);
      long before = uploadedBytes();
      put(half, 0, 20, 2);
      halves.add(take(half));
      assertThat(uploadedBytes() - before).isLessThan(ofWhole.getStateSize() / 20);
      // The next compaction drops foreign records.
      half.store().log().compact();
      assertThat(half.store().statistics().compaction().movedRecords()).isLessThanOrEqualTo(own);
      half.notifyCheckpointComplete(checkpoint);
      halves.set(halves.size() - 1, take(half));
    }
    FasterKeyedStateBackend<Integer> merged = backends.open(ALL, halves);
    assertHolds(merged, 0, 20, 2);
    assertHolds(merged, 20, 20_000, 1);
    assertThat(merged.numKeyValueStateEntries()).isEqualTo(20_000);
  }

  /** The parameters say how many quarters of its log each subtask compacts before the merge. */
  @ParameterizedTest
  @CsvSource({"0, 0", "0, 1", "1, 0", "2, 1", "1, 2", "4, 0", "0, 4", "4, 4"})
  void staleRecordsOfASharedLogDoNotReappear(int lowCompacts, int highCompacts) throws Exception {
    FasterKeyedStateBackend<Integer> whole = openWhole();
    put(whole, 0, 4_000, 1);
    IncrementalRemoteKeyedStateHandle ofWhole = take(whole);
    FasterKeyedStateBackend<Integer> low = backends.open(KeyGroupRange.of(0, 15), List.of(ofWhole));
    FasterKeyedStateBackend<Integer> high =
        backends.open(KeyGroupRange.of(16, 31), List.of(ofWhole));
    clear(high, 0, 1_000);
    put(low, 0, 500, 2);
    put(high, 500, 600, 3);
    compactQuarters(low, lowCompacts);
    compactQuarters(high, highCompacts);
    FasterKeyedStateBackend<Integer> merged = backends.open(ALL, List.of(take(low), take(high)));
    // The common part of the log is opened unchanged.
    long before = uploadedBytes();
    assertThat(write(merged, CheckpointType.CHECKPOINT).getSharedState())
        .anyMatch(file -> file.getHandle() instanceof PlaceholderStreamStateHandle);
    if (lowCompacts == 0 && highCompacts == 0) {
      assertThat(uploadedBytes() - before).isLessThan(ofWhole.getStateSize() / 2);
    }
    ValueState<byte[]> ofMerged = state(merged);
    for (int key = 0; key < 4_000; key++) {
      merged.setCurrentKey(key);
      boolean isOfHigh = ModelStates.isOf(high, key);
      if (isOfHigh && (key < 500 || 600 <= key && key < 1_000)) {
        assertThat(ofMerged.value()).isNull();
      } else {
        int fill = isOfHigh && key < 600 ? 3 : key < 500 ? 2 : 1;
        assertThat(ofMerged.value()).hasSize(VALUE_BYTES).containsOnly(fill);
      }
    }
  }

  /**
   * The amount of compaction decides which log the store opens, and what it inserts into that log.
   */
  @ParameterizedTest
  @CsvSource({"0, 1, 2", "2, 1, 0", "1, 0, 2", "0, 4, 1", "4, 4, 2"})
  void threeLogsThatBeginAtDifferentPlacesAreMerged(int first, int second, int third)
      throws Exception {
    FasterKeyedStateBackend<Integer> whole = openWhole();
    put(whole, 0, 4_000, 1);
    IncrementalRemoteKeyedStateHandle ofWhole = take(whole);
    List<KeyGroupRange> ranges =
        List.of(KeyGroupRange.of(0, 9), KeyGroupRange.of(10, 20), KeyGroupRange.of(21, 31));
    List<Integer> compacted = List.of(first, second, third);
    List<FasterKeyedStateBackend<Integer>> thirds = new ArrayList<>();
    List<KeyedStateHandle> handles = new ArrayList<>();
    for (int i = 0; i < ranges.size(); i++) {
      FasterKeyedStateBackend<Integer> one = backends.open(ranges.get(i), List.of(ofWhole));
      thirds.add(one);
      clear(one, 700 * i, 700 * i + 1_000);
      put(one, 700 * i + 500, 700 * i + 900, 2 + i);
      compactQuarters(one, compacted.get(i));
      handles.add(take(one));
    }
    assertThat(thirds.stream().map(one -> one.store().log().beginAddress()).distinct())
        .hasSize((int) compacted.stream().distinct().count());
    // Merges to one subtask, and to two that each have a part of the middle one's key groups.
    for (KeyGroupRange range : List.of(ALL, KeyGroupRange.of(0, 15), KeyGroupRange.of(16, 31))) {
      FasterKeyedStateBackend<Integer> merged =
          backends.open(
              range, handles.stream().filter(one -> one.getIntersection(range) != null).toList());
      assertThat(write(merged, CheckpointType.CHECKPOINT).getSharedState())
          .anyMatch(file -> file.getHandle() instanceof PlaceholderStreamStateHandle);
      int entries = 0;
      for (int key = 0; key < 4_000; key++) {
        if (!ModelStates.isOf(merged, key)) {
          continue;
        }
        int of =
            ModelStates.isOf(thirds.get(0), key) ? 0 : ModelStates.isOf(thirds.get(1), key) ? 1 : 2;
        int place = key - 700 * of;
        merged.setCurrentKey(key);
        byte[] value = state(merged).value();
        if (0 <= place && place < 500 || 900 <= place && place < 1_000) {
          assertThat(value).isNull();
        } else {
          assertThat(value)
              .hasSize(VALUE_BYTES)
              .containsOnly(500 <= place && place < 900 ? 2 + of : 1);
          entries++;
        }
      }
      assertThat(merged.numKeyValueStateEntries()).isEqualTo(entries);
    }
  }

  private static void clear(FasterKeyedStateBackend<Integer> backend, int from, int until)
      throws Exception {
    ValueState<byte[]> state = state(backend);
    for (int key = from; key < until; key++) {
      if (ModelStates.isOf(backend, key)) {
        backend.setCurrentKey(key);
        state.clear();
      }
    }
  }

  /** One half's chains skip the other's records. There are enough records that keys share a tag. */
  @Test
  void recordsSkippedByOneHalfsChainsArePresentAfterAMerge() throws Exception {
    FasterKeyedStateBackend<Integer> whole = open(TestSettings.ROOMY_INCREMENTAL);
    int keys = 300_000;
    put(whole, 0, keys, 1, 10);
    IncrementalRemoteKeyedStateHandle ofWhole = take(whole);
    FasterKeyedStateBackend<Integer> low = backends.open(KeyGroupRange.of(0, 15), List.of(ofWhole));
    FasterKeyedStateBackend<Integer> high =
        backends.open(KeyGroupRange.of(16, 31), List.of(ofWhole));
    put(low, 0, keys, 1, 10);
    FasterKeyedStateBackend<Integer> merged = backends.open(ALL, List.of(take(low), take(high)));
    ValueState<byte[]> state = state(merged);
    List<Integer> missing = new ArrayList<>();
    for (int key = 0; key < keys; key++) {
      merged.setCurrentKey(key);
      if (state.value() == null) {
        missing.add(key);
      }
    }
    assertThat(missing).isEmpty();
  }

  /**
   * Opens a store with small pages and memory for all state, so that only requested compactions
   * run.
   */
  private FasterKeyedStateBackend<Integer> openWhole() throws Exception {
    Configuration config = TestSettings.TINY_INCREMENTAL.config();
    config.set(FasterOptions.FIXED_MEMORY, MemorySize.ofMebiBytes(8));
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()));
    backends = new TestBackends(config);
    return backends.open();
  }

  private static void compactQuarters(FasterKeyedStateBackend<Integer> backend, int quarters) {
    FasterStore store = backend.store();
    if (quarters > 0) {
      store
          .log()
          .compact(store.log().beginAddress() + store.statistics().logBytes() / 4 * quarters);
    }
  }
}
