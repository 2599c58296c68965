package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests values, lists and maps of many records that are cleared, replaced and created again,
 * against java.util collections; with compaction, readers that continue after a clear, checkpoints
 * that are written some time after they are taken, and restores at another parallelism.
 */
@Tag("seeds")
class ClearModelTest {
  private static final int KEYS = 12;
  private static final int STEPS = 250;

  /** A checkpoint that does not build on another. */
  private static final CheckpointOptions WHOLE =
      new CheckpointOptions(
          SavepointType.savepoint(SavepointFormatType.NATIVE),
          CheckpointStorageLocationReference.getDefault());

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource(names = {"TINY", "TINY_INCREMENTAL", "ROOMY_INCREMENTAL"})
  void clearedValuesStayClearedAndOthersStay(TestSettings settings) throws Throwable {
    Seeds.run(
        4,
        random -> {
          try (TestBackends backends = new TestBackends(settings, directory)) {
            new Job(backends, random).run();
          }
        });
  }

  /** The expected contents of all keys' states. */
  private static final class Model {
    final Map<Integer, byte[]> values = new HashMap<>();
    final Map<Integer, List<String>> lists = new HashMap<>();
    final Map<Integer, Map<Integer, String>> maps = new HashMap<>();

    Model copy() {
      Model copy = new Model();
      copy.values.putAll(values);
      lists.forEach((key, list) -> copy.lists.put(key, new ArrayList<>(list)));
      maps.forEach((key, map) -> copy.maps.put(key, new HashMap<>(map)));
      return copy;
    }
  }

  private static final class States {
    final ValueState<byte[]> value;
    final ListState<String> list;
    final MapState<Integer, String> map;

    States(FasterKeyedStateBackend<Integer> backend) throws Exception {
      value =
          ModelStates.state(
              backend, new ValueStateDescriptor<>("value", BytePrimitiveArraySerializer.INSTANCE));
      list =
          ModelStates.state(backend, new ListStateDescriptor<>("list", StringSerializer.INSTANCE));
      map =
          ModelStates.state(
              backend,
              new MapStateDescriptor<>("map", IntSerializer.INSTANCE, StringSerializer.INSTANCE));
    }
  }

  /** An open iterator over a list, and its expected elements. */
  private record Reading(Iterator<String> list, Iterator<String> expected) {}

  private record Checkpoint(
      Model model, List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> futures) {}

  private static final class Job {
    private final TestBackends backends;
    private final SplittableRandom random;
    private final List<FasterKeyedStateBackend<Integer>> subtasks = new ArrayList<>();
    private final List<Reading> readings = new ArrayList<>();
    private Model model = new Model();
    private Checkpoint started;

    Job(TestBackends backends, SplittableRandom random) {
      this.backends = backends;
      this.random = random;
    }

    void run() throws Exception {
      open(List.of());
      for (int step = 0; step < STEPS; step++) {
        int key = random.nextInt(KEYS);
        FasterKeyedStateBackend<Integer> backend = of(key);
        backend.setCurrentKey(key);
        States states = new States(backend);
        switch (random.nextInt(12)) {
          case 0, 1, 2 -> grow(key, states);
          case 3 -> replace(key, states);
          case 4, 5 -> clear(key, states);
          case 6 -> read(key, states);
          case 7 -> continueReading(random.nextInt(300));
          case 8 -> check(key, states);
          case 9 -> backend.store().log().compact();
          case 10 -> {
            if (started == null) {
              start();
            }
          }
          default -> {
            if (started != null && random.nextInt(3) == 0) {
              fail();
            }
          }
        }
      }
      continueReading(Integer.MAX_VALUE);
      checkAll();
    }

    private FasterKeyedStateBackend<Integer> of(int key) {
      return subtasks.stream()
          .filter(subtask -> ModelStates.isOf(subtask, key))
          .findFirst()
          .orElseThrow();
    }

    private String text() {
      return "x".repeat(random.nextInt(200) == 0 ? 5_000 : random.nextInt(150))
          + random.nextInt(1_000_000);
    }

    private void grow(int key, States states) throws Exception {
      int times = 1 << random.nextInt(10);
      switch (random.nextInt(3)) {
        case 0 -> {
          byte[] bytes = Seeds.bytes(random, random.nextInt(20 * times));
          states.value.update(bytes);
          model.values.put(key, bytes);
        }
        case 1 -> {
          for (int i = 0; i < times; i++) {
            String element = text();
            states.list.add(element);
            model.lists.computeIfAbsent(key, absent -> new ArrayList<>()).add(element);
          }
        }
        default -> {
          for (int i = 0; i < times; i++) {
            int userKey = random.nextInt(1_000);
            String value = text();
            states.map.put(userKey, value);
            model.maps.computeIfAbsent(key, absent -> new HashMap<>()).put(userKey, value);
          }
        }
      }
    }

    private void replace(int key, States states) throws Exception {
      List<String> elements = new ArrayList<>();
      for (int i = 1 << random.nextInt(8); i > 0; i--) {
        elements.add(text());
      }
      states.list.update(elements);
      model.lists.put(key, elements);
    }

    private void clear(int key, States states) {
      switch (random.nextInt(3)) {
        case 0 -> {
          states.value.clear();
          model.values.remove(key);
        }
        case 1 -> {
          states.list.clear();
          model.lists.remove(key);
        }
        default -> {
          states.map.clear();
          model.maps.remove(key);
        }
      }
    }

    private void read(int key, States states) throws Exception {
      Iterable<String> list = states.list.get();
      List<String> expected = new ArrayList<>(model.lists.getOrDefault(key, List.of()));
      if (list != null) {
        readings.add(new Reading(list.iterator(), expected.iterator()));
      } else {
        assertThat(expected).isEmpty();
      }
    }

    private void continueReading(int most) {
      for (Reading reading : readings) {
        for (int i = 0; i < most && reading.expected.hasNext(); i++) {
          assertThat(reading.list.next()).isEqualTo(reading.expected.next());
        }
        assertThat(reading.list.hasNext()).isEqualTo(reading.expected.hasNext());
      }
      readings.removeIf(reading -> !reading.expected.hasNext());
    }

    private void check(int key, States states) throws Exception {
      assertThat(Arrays.equals(states.value.value(), model.values.get(key))).isTrue();
      List<String> elements = new ArrayList<>();
      if (states.list.get() != null) {
        states.list.get().forEach(elements::add);
      }
      assertThat(elements).isEqualTo(model.lists.getOrDefault(key, List.of()));
      Map<Integer, String> entries = new HashMap<>();
      states.map.entries().forEach(entry -> entries.put(entry.getKey(), entry.getValue()));
      Map<Integer, String> expected = model.maps.getOrDefault(key, Map.of());
      assertThat(entries).isEqualTo(expected);
      assertThat(states.map.isEmpty()).isEqualTo(expected.isEmpty());
      int userKey = random.nextInt(1_000);
      assertThat(states.map.get(userKey)).isEqualTo(expected.get(userKey));
    }

    private void checkAll() throws Exception {
      for (int key = 0; key < KEYS; key++) {
        of(key).setCurrentKey(key);
        check(key, new States(of(key)));
      }
    }

    private void start() throws Exception {
      List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> futures = new ArrayList<>();
      for (FasterKeyedStateBackend<Integer> subtask : subtasks) {
        futures.add(subtask.snapshot(1, 1, TestBackends.inMemory(), WHOLE));
      }
      started = new Checkpoint(model.copy(), futures);
    }

    /**
     * Writes the checkpoint that was started some steps earlier, and restores everything from it.
     */
    private void fail() throws Exception {
      List<KeyedStateHandle> handles = new ArrayList<>();
      for (RunnableFuture<SnapshotResult<KeyedStateHandle>> future : started.futures) {
        handles.add(TestBackends.finish(future));
      }
      continueReading(Integer.MAX_VALUE);
      subtasks.forEach(FasterKeyedStateBackend::dispose);
      subtasks.clear();
      model = started.model;
      started = null;
      open(handles);
      checkAll();
    }

    private void open(List<KeyedStateHandle> handles) throws Exception {
      int parallelism = 1 + random.nextInt(3);
      for (int i = 0; i < parallelism; i++) {
        int first = TestBackends.KEY_GROUPS * i / parallelism;
        int last = TestBackends.KEY_GROUPS * (i + 1) / parallelism - 1;
        KeyGroupRange range = KeyGroupRange.of(first, last);
        List<KeyedStateHandle> own = new ArrayList<>();
        for (KeyedStateHandle handle : handles) {
          if (handle != null
              && handle.getKeyGroupRange().getIntersection(range).getNumberOfKeyGroups() > 0) {
            own.add(handle);
          }
        }
        subtasks.add(backends.open(range, own));
      }
    }
  }

  /** A checkpoint contains the state at the moment it was taken, even if it is written later. */
  @ParameterizedTest
  @EnumSource(names = {"TINY", "TINY_INCREMENTAL"})
  void anOlderCheckpointHasAllThatWasClearedAndCompacted(TestSettings settings) throws Exception {
    try (TestBackends backends = new TestBackends(settings, directory)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      States states = new States(backend);
      byte[] value = Seeds.bytes(new SplittableRandom(1), 500_000);
      backend.setCurrentKey(1);
      fill(states, value);
      RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint =
          TestBackends.start(backend, TestBackends.inMemory());
      states.value.clear();
      states.list.clear();
      states.map.clear();
      long before = backend.store().statistics().logBytes();
      compactAll(backend.store());
      compactAll(backend.store());
      assertThat(backend.store().statistics().logBytes()).isLessThan(before / 4);
      KeyedStateHandle handle = TestBackends.finish(checkpoint);

      FasterKeyedStateBackend<Integer> restored = backends.open(handle);
      restored.setCurrentKey(1);
      checkFilled(new States(restored), value);
      restored.store().log().compact();
      checkFilled(new States(restored), value);
      assertThat(states.list.get()).isNull();
    }
  }

  /**
   * Compacts the whole log, page by page as pages reach the disk; the cut does not wait for them.
   */
  private static void compactAll(FasterStore store) {
    long end = store.log().tailAddress() & -store.config().pageBytes();
    store.log().cut().close();
    while (store.log().beginAddress() < end) {
      store.log().compact();
    }
  }

  private static void fill(States states, byte[] value) throws Exception {
    states.value.update(value);
    for (int i = 0; i < 5_000; i++) {
      states.list.add("an element with the number " + i);
      states.map.put(i, "an entry with the number " + i);
    }
  }

  private static void checkFilled(States states, byte[] value) throws Exception {
    assertThat(Arrays.equals(states.value.value(), value)).isTrue();
    int count = 0;
    for (String element : states.list.get()) {
      assertThat(element).isEqualTo("an element with the number " + count++);
    }
    assertThat(count).isEqualTo(5_000);
    for (int i = 0; i < 5_000; i++) {
      assertThat(states.map.get(i)).isEqualTo("an entry with the number " + i);
    }
  }

  /** A restored store frees parts that were cleared before or after its checkpoint. */
  @Tag("slow")
  @Test
  void aRestoredStoreFreesClearedValues() throws Exception {
    try (TestBackends backends = new TestBackends(TestSettings.TINY_INCREMENTAL, directory)) {
      FasterKeyedStateBackend<Integer> backend = backends.open();
      States states = new States(backend);
      byte[] value = Seeds.bytes(new SplittableRandom(1), 500_000);
      for (int key = 1; key <= 4; key++) {
        backend.setCurrentKey(key);
        fill(states, value);
      }
      backend.setCurrentKey(2);
      states.value.clear();
      states.list.clear();
      states.map.clear();
      FasterKeyedStateBackend<Integer> restored = backends.open(TestBackends.snapshot(backend));
      long before = restored.store().statistics().logBytes();
      States again = new States(restored);
      restored.setCurrentKey(3);
      again.value.clear();
      again.list.clear();
      again.map.clear();
      fill(again, value);
      again.list.clear();
      assertThat(again.list.get()).isNull();
      restored.store().log().cut().close();
      restored.store().log().compact();
      restored.store().log().compact();
      assertThat(restored.store().statistics().logBytes()).isLessThan(before * 9 / 10);
      restored.setCurrentKey(1);
      checkFilled(again, value);
      restored.setCurrentKey(2);
      assertThat(again.list.get()).isNull();
      assertThat(again.map.isEmpty()).isTrue();
      restored.setCurrentKey(3);
      assertThat(again.list.get()).isNull();
      assertThat(Arrays.equals(again.value.value(), value)).isTrue();
    }
  }
}
