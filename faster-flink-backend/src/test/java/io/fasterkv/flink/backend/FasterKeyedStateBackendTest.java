package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.FasterStateBackend;
import io.fasterkv.flink.FasterStateBackendFactory;
import io.fasterkv.flink.TestSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class FasterKeyedStateBackendTest {
  private static final ValueStateDescriptor<Long> FIRST =
      new ValueStateDescriptor<>("first", LongSerializer.INSTANCE);
  private static final ValueStateDescriptor<Long> SECOND =
      new ValueStateDescriptor<>("second", LongSerializer.INSTANCE);

  @TempDir Path directory;
  private TestBackends backends;

  @BeforeEach
  void open() {
    backends = new TestBackends(TestSettings.TINY, directory);
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
    assertThat(files(directory)).isEmpty();
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.toList();
    }
  }

  @Test
  void flinkFindsTheBackendByTheNameOfItsFactory() throws Exception {
    Configuration config = new Configuration();
    config.set(StateBackendOptions.STATE_BACKEND, FasterStateBackendFactory.class.getName());
    config.setString("state.backend.faster.log.mutable-fraction", "0.25");
    assertThat(
            StateBackendLoader.loadStateBackendFromConfig(
                config, getClass().getClassLoader(), LoggerFactory.getLogger(getClass())))
        .isInstanceOf(FasterStateBackend.class)
        .hasToString(
            new FasterStateBackend().configure(config, getClass().getClassLoader()).toString());
  }

  @Test
  void keysOfSeveralStatesAreListedOnce() throws Exception {
    FasterKeyedStateBackend<Integer> backend = backends.open();
    ValueState<Long> first = ModelStates.state(backend, FIRST);
    ValueState<Long> second = ModelStates.state(backend, SECOND);
    for (int key = 0; key < 3_000; key++) {
      backend.setCurrentKey(key);
      if (key < 2_000) {
        first.update(1L);
      }
      if (key >= 1_000) {
        second.update(2L);
      }
    }
    try (Stream<Integer> keys =
        backend.getKeys(List.of("first", "second", "unknown"), VoidNamespace.INSTANCE)) {
      assertThat(keys.sorted().toList()).isEqualTo(IntStream.range(0, 3_000).boxed().toList());
    }
    try (Stream<Integer> keys = backend.getKeys("second", VoidNamespace.INSTANCE)) {
      assertThat(keys.count()).isEqualTo(2_000);
    }
    assertThat(backend.getKeys("unknown", VoidNamespace.INSTANCE)).isEmpty();
    assertThat(backend.numKeyValueStateEntries()).isEqualTo(4_000);
  }

  @Test
  void aKeyWhoseMapWasEmptiedIsNotListed() throws Exception {
    FasterKeyedStateBackend<Integer> backend = backends.open();
    MapState<Integer, Integer> map =
        ModelStates.state(
            backend,
            new MapStateDescriptor<>("map", IntSerializer.INSTANCE, IntSerializer.INSTANCE));
    for (int key = 0; key < 10; key++) {
      backend.setCurrentKey(key);
      map.put(1, 1);
      if (key % 2 == 0) {
        map.remove(1);
      }
    }
    try (Stream<Integer> keys = backend.getKeys("map", VoidNamespace.INSTANCE)) {
      assertThat(keys.toList()).containsExactlyInAnyOrder(1, 3, 5, 7, 9);
    }
  }

  @Tag("slow")
  @Test
  void valuesMuchLargerThanAPageAreRestoredFromASnapshot() throws Exception {
    ValueStateDescriptor<byte[]> value =
        new ValueStateDescriptor<>("value", BytePrimitiveArraySerializer.INSTANCE);
    MapStateDescriptor<Integer, byte[]> map =
        new MapStateDescriptor<>(
            "map", IntSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE);
    ListStateDescriptor<byte[]> list =
        new ListStateDescriptor<>("list", BytePrimitiveArraySerializer.INSTANCE);
    byte[] large = new byte[5 << 20];
    for (int i = 0; i < large.length; i += 100) {
      large[i] = (byte) (i / 100);
    }
    FasterKeyedStateBackend<Integer> backend = backends.open();
    backend.setCurrentKey(1);
    ModelStates.<ValueState<byte[]>>state(backend, value).update(large);
    MapState<Integer, byte[]> maps = ModelStates.state(backend, map);
    ListState<byte[]> lists = ModelStates.state(backend, list);
    for (int i = 0; i < 3; i++) {
      maps.put(i, large);
      lists.add(large);
    }
    KeyedStateHandle snapshot = TestBackends.snapshot(backend);
    backend.dispose();

    FasterKeyedStateBackend<Integer> restored = backends.open(snapshot);
    restored.setCurrentKey(1);
    assertThat(ModelStates.<ValueState<byte[]>>state(restored, value).value()).isEqualTo(large);
    for (byte[] element : ModelStates.<ListState<byte[]>>state(restored, list).get()) {
      assertThat(element).isEqualTo(large);
    }
    assertThat(ModelStates.<MapState<Integer, byte[]>>state(restored, map).get(2)).isEqualTo(large);
  }

  @Test
  void aLongListIsReadPieceByPieceAndStaysAsItWasWhenItWasAsked() throws Exception {
    FasterKeyedStateBackend<Integer> backend = backends.open();
    InternalListState<Integer, VoidNamespace, Long> list =
        backend.createOrUpdateInternalState(
            VoidNamespaceSerializer.INSTANCE,
            new ListStateDescriptor<>("list", LongSerializer.INSTANCE));
    list.setCurrentNamespace(VoidNamespace.INSTANCE);
    backend.setCurrentKey(1);
    for (long i = 0; i < 50_000; i++) {
      list.add(i);
    }
    Iterator<Long> elements = list.get().iterator();
    assertThat(elements.next()).isZero();
    backend.setCurrentKey(2);
    list.add(-1L);
    backend.setCurrentKey(1);
    list.add(-2L);
    list.clear();
    long count = 1;
    while (elements.hasNext()) {
      assertThat(elements.next()).isEqualTo(count++);
    }
    assertThat(count).isEqualTo(50_000);
    assertThat(list.get()).isNull();
  }

  @Test
  void timersAreRestoredFromASnapshot() throws Exception {
    TimerSerializer<Integer, VoidNamespace> serializer =
        new TimerSerializer<>(IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> queue =
        backend.create("timers", serializer);
    for (int key = 0; key < 1_000; key++) {
      queue.add(new TimerHeapInternalTimer<>(key * 7L % 1_000, key, VoidNamespace.INSTANCE));
    }
    KeyedStateHandle snapshot = TestBackends.snapshot(backend);

    KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> restored =
        backends.open(snapshot).create("timers", serializer);
    List<Long> times = new ArrayList<>();
    while (!restored.isEmpty()) {
      times.add(restored.poll().getTimestamp());
    }
    assertThat(times).hasSize(1_000).isSorted();
  }

  @Test
  void aStoreNeverTakesMoreThanItsLease() throws Exception {
    FasterKeyedStateBackend<Integer> backend = backends.open();
    new ModelStates().change(backend, new SplittableRandom(1), 5_000, 50_000);
    TestBackends.snapshot(backend);
    assertThat(backend.store().statistics().memoryBytes())
        .isPositive()
        .isLessThanOrEqualTo(1 << 20);
  }

  @Test
  void aBackendThatCannotBeBuiltLeavesNothingBehind() {
    Configuration config = TestSettings.MANAGED.config();
    config.set(TestSettings.PAGE_SIZE, MemorySize.ofMebiBytes(64));
    config.setString("state.backend.faster.local-dir", directory.toString());
    assertThatThrownBy(() -> new TestBackends(config).open())
        .hasStackTraceContaining("pageBytes=" + (64 << 20) + ", allowed=");
  }
}
