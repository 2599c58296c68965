package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.config.FasterOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that all readers of keys and namespaces see those that are too long for a record key. */
class LongKeysTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final Duration TTL = Duration.ofSeconds(1);
  private static final int KEY_GROUPS = 32;
  private static final String LONG = "k".repeat(60_000);
  private static final List<String> KEYS = List.of("a", "b" + LONG, "c" + LONG);
  private static final List<String> NAMESPACES = List.of("", "n", "n" + LONG);

  private static final ValueStateDescriptor<String> VALUE =
      new ValueStateDescriptor<>("value", StringSerializer.INSTANCE);
  private static final ListStateDescriptor<String> LIST =
      new ListStateDescriptor<>("list", StringSerializer.INSTANCE);
  private static final MapStateDescriptor<String, String> MAP =
      new MapStateDescriptor<>("map", StringSerializer.INSTANCE, StringSerializer.INSTANCE);

  @TempDir Path directory;

  private Configuration config() {
    return new Configuration()
        .set(FasterOptions.FIXED_MEMORY, MemorySize.ofMebiBytes(1))
        .set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()));
  }

  private LongKeyBackends open(List<KeyedStateHandle> handles) throws Exception {
    return LongKeyBackends.open(config(), 1, handles);
  }

  private static <S extends State> S state(
      KeyedStateBackend<String> backend,
      String key,
      String namespace,
      StateDescriptor<S, ?> descriptor)
      throws Exception {
    backend.setCurrentKey(key);
    return backend.getPartitionedState(namespace, StringSerializer.INSTANCE, descriptor);
  }

  private static void fill(KeyedStateBackend<String> backend) throws Exception {
    for (String key : KEYS) {
      for (String namespace : NAMESPACES) {
        String text = text(key, namespace);
        state(backend, key, namespace, VALUE).update(text);
        ListState<String> list = state(backend, key, namespace, LIST);
        MapState<String, String> map = state(backend, key, namespace, MAP);
        for (int i = 0; i < 3; i++) {
          list.add(text + i);
          map.put(i + LONG.substring(0, i * 20_000), text + i);
        }
      }
    }
  }

  private static String text(String key, String namespace) {
    return key.charAt(0) + " " + namespace.length();
  }

  private static void check(KeyedStateBackend<String> backend) throws Exception {
    for (String key : KEYS) {
      for (String namespace : NAMESPACES) {
        String text = text(key, namespace);
        assertThat(state(backend, key, namespace, VALUE).value()).isEqualTo(text);
        assertThat(state(backend, key, namespace, LIST).get())
            .containsExactly(text + 0, text + 1, text + 2);
        MapState<String, String> map = state(backend, key, namespace, MAP);
        for (int i = 0; i < 3; i++) {
          assertThat(map.get(i + LONG.substring(0, i * 20_000))).isEqualTo(text + i);
        }
      }
    }
    for (String namespace : NAMESPACES) {
      try (Stream<String> keys = backend.getKeys("map", namespace)) {
        assertThat(keys).containsExactlyInAnyOrderElementsOf(KEYS);
      }
    }
  }

  @Test
  void otherBackendsTakeSavepointsOverAndGiveThemBack() throws Exception {
    List<StateBackend> others =
        List.of(new HashMapStateBackend(), new EmbeddedRocksDBStateBackend());
    for (StateBackend kind : others) {
      KeyedStateHandle savepoint;
      try (LongKeyBackends faster = open(List.of())) {
        fill(faster.of(""));
        savepoint = savepoint(faster.of(""));
      }
      try (MockEnvironment env = MockEnvironment.builder().build()) {
        CheckpointableKeyedStateBackend<String> other = open(kind, env, List.of(savepoint));
        try {
          check(other);
          savepoint = savepoint(other);
        } finally {
          other.dispose();
        }
      }
      try (LongKeyBackends faster = open(List.of(savepoint))) {
        check(faster.of(""));
      }
    }
  }

  private static CheckpointableKeyedStateBackend<String> open(
      StateBackend kind, MockEnvironment env, Collection<KeyedStateHandle> handles)
      throws Exception {
    JobID job = env.getJobID();
    return kind.createKeyedStateBackend(
        new KeyedStateBackendParametersImpl<>(
            env,
            job,
            "another",
            StringSerializer.INSTANCE,
            KEY_GROUPS,
            KeyGroupRange.of(0, KEY_GROUPS - 1),
            new KvStateRegistry().createTaskRegistry(job, env.getJobVertexId()),
            TtlTimeProvider.DEFAULT,
            new UnregisteredMetricsGroup(),
            handles,
            new CloseableRegistry()));
  }

  /** Takes a canonical savepoint in the same way as Flink's operators. */
  private static <K> KeyedStateHandle savepoint(CheckpointableKeyedStateBackend<K> backend)
      throws Exception {
    SavepointResources<K> resources = backend.savepoint();
    try (CloseableRegistry registry = new CloseableRegistry()) {
      return TestBackends.finish(
          new SnapshotStrategyRunner<>(
                  "savepoint",
                  new SavepointSnapshotStrategy<>(resources.getSnapshotResources()),
                  registry,
                  resources.getPreferredSnapshotExecutionType())
              .snapshot(
                  1,
                  1,
                  TestBackends.inMemory(),
                  new CheckpointOptions(
                      SavepointType.savepoint(SavepointFormatType.CANONICAL),
                      CheckpointStorageLocationReference.getDefault())));
    }
  }

  /** Several states and namespaces have the same key; one of them is cleared. */
  @Test
  void listingsHaveThem() throws Exception {
    try (LongKeyBackends backends = open(List.of())) {
      FasterKeyedStateBackend<String> backend = backends.of("");
      fill(backend);
      int pairs = KEYS.size() * NAMESPACES.size();
      assertThat(backend.numKeyValueStateEntries()).isEqualTo(3 * pairs);
      for (String key : KEYS) {
        state(backend, key, "n", VALUE).clear();
      }
      assertThat(backend.numKeyValueStateEntries()).isEqualTo(3 * pairs - KEYS.size());
      try (Stream<String> none = backend.getKeys("value", "n");
          Stream<String> all = backend.getKeys(List.of("value", "list", "map"), "n");
          var listed = backend.getKeysAndNamespaces("value")) {
        assertThat(none).isEmpty();
        assertThat(all).containsExactlyInAnyOrderElementsOf(KEYS);
        assertThat(listed.map(pair -> pair.f0 + "/" + pair.f1))
            .hasSize(pairs - KEYS.size())
            .doesNotHaveDuplicates();
      }
      backend.applyToAllKeys(
          NAMESPACES.getLast(), StringSerializer.INSTANCE, LIST, (key, list) -> list.clear());
      try (var listed = backend.getKeysAndNamespaces("list")) {
        assertThat(listed).hasSize(pairs - KEYS.size());
      }
    }
  }

  @Test
  @SuppressWarnings("unchecked") // States of this backend implement Flink's internal interfaces.
  void visitorsAndClientsOfPublishedStateFindThem() throws Exception {
    try (LongKeyBackends backends = open(List.of())) {
      FasterKeyedStateBackend<String> backend = backends.of("");
      fill(backend);
      for (String key : KEYS) {
        for (String namespace : NAMESPACES) {
          var state =
              (InternalKvState<String, String, String>)
                  (Object) state(backend, "b", namespace, VALUE);
          byte[] found =
              state.getSerializedValue(
                  KvStateSerializer.serializeKeyAndNamespace(
                      key, StringSerializer.INSTANCE, namespace, StringSerializer.INSTANCE),
                  StringSerializer.INSTANCE,
                  StringSerializer.INSTANCE,
                  StringSerializer.INSTANCE);
          assertThat(KvStateSerializer.deserializeValue(found, StringSerializer.INSTANCE))
              .isEqualTo(text(key, namespace));
        }
      }
      var state = (InternalKvState<String, String, String>) (Object) state(backend, "b", "", VALUE);
      List<String> seen = new ArrayList<>();
      for (var visitor = state.getStateIncrementalVisitor(10); visitor.hasNext(); ) {
        visitor.nextEntries().forEach(entry -> seen.add(entry.getState()));
        state(backend, "b", "another", VALUE).value();
      }
      assertThat(seen).hasSize(KEYS.size() * NAMESPACES.size()).doesNotHaveDuplicates();
      Map<String, String> visited = new HashMap<>();
      for (var visitor = state.getStateIncrementalVisitor(10); visitor.hasNext(); ) {
        for (var entry : visitor.nextEntries()) {
          String at = text(entry.getKey(), entry.getNamespace());
          assertThat(visited.put(at, entry.getState())).isNull();
          if (at.startsWith("b")) {
            visitor.remove(entry);
          } else {
            visitor.update(entry, at + " visited");
          }
        }
        state(backend, "b", "another", VALUE).value();
      }
      assertThat(visited).hasSize(KEYS.size() * NAMESPACES.size());
      visited.forEach((at, value) -> assertThat(value).isEqualTo(at));
      for (String namespace : NAMESPACES) {
        assertThat(state(backend, KEYS.get(1), namespace, VALUE).value()).isNull();
        assertThat(state(backend, KEYS.get(2), namespace, VALUE).value())
            .isEqualTo(text("c", namespace) + " visited");
      }
    }
  }

  /** An iterator that was opened before the clear puts an entry back. */
  @Test
  void anEntryThatIsSetAfterItsMapWasClearedHasItsKey() throws Exception {
    try (LongKeyBackends backends = open(List.of())) {
      FasterKeyedStateBackend<String> backend = backends.of("");
      String key = KEYS.getLast();
      MapState<String, String> map = state(backend, key, "", MAP);
      map.put("user key", "value");
      var entry = map.entries().iterator().next();
      map.clear();
      state(backend, "another", "", MAP).put("user key", "value");
      entry.setValue("again");
      try (Stream<String> keys = backend.getKeys("map", "")) {
        assertThat(keys).containsExactlyInAnyOrder(key, "another");
      }
    }
  }

  /** The migration writes all values again. */
  @Test
  void aStateThatGetsATimeToLiveKeepsThem() throws Exception {
    List<KeyedStateHandle> handles;
    try (LongKeyBackends backends = open(List.of())) {
      fill(backends.of(""));
      handles = backends.snapshot(CheckpointType.CHECKPOINT);
    }
    try (LongKeyBackends backends = open(handles)) {
      FasterKeyedStateBackend<String> backend = backends.of("");
      ValueStateDescriptor<String> timed = timedValue();
      for (String key : KEYS) {
        for (String namespace : NAMESPACES) {
          assertThat(state(backend, key, namespace, timed).value()).isEqualTo(text(key, namespace));
        }
      }
      try (var listed = backend.getKeysAndNamespaces("value")) {
        assertThat(listed).hasSize(KEYS.size() * NAMESPACES.size());
      }
    }
  }

  private static ValueStateDescriptor<String> timedValue() {
    ValueStateDescriptor<String> timed =
        new ValueStateDescriptor<>("value", StringSerializer.INSTANCE);
    timed.enableTimeToLive(StateTtlConfig.newBuilder(TTL).build());
    return timed;
  }

  private static long count(FasterKeyedStateBackend<String> backend) {
    try (Stream<String> listed = backend.getKeys("value", "")) {
      return listed.count();
    }
  }

  /** Later writes trigger the compaction runs that drop values and keys. */
  @Tag("slow")
  @Test
  void expiredValuesAreDroppedWithTheirKeys() throws Exception {
    AtomicLong now = new AtomicLong(1_000);
    ValueStateDescriptor<String> timed = timedValue();
    List<String> keys = IntStream.range(0, 100).mapToObj(number -> number + LONG).toList();
    try (LongKeyBackends backends = LongKeyBackends.open(config(), 1, List.of(), now::get)) {
      FasterKeyedStateBackend<String> backend = backends.of("");
      for (String key : keys) {
        state(backend, key, "", timed).update("value");
      }
      long before = backend.store().statistics().logBytes();
      assertThat(before).isGreaterThan((long) keys.size() * LONG.length());
      now.addAndGet(TTL.toMillis());
      state(backend, keys.getFirst(), "", timed).update("live");
      long start = System.nanoTime();
      while (backend.store().statistics().logBytes() > before / 2 || count(backend) > 2) {
        for (int i = 0; i < 100; i++) {
          state(backend, "another", "", timed).update(LONG.substring(0, i * 100));
        }
        assertThat(System.nanoTime() - start)
            .as(() -> "log " + backend.store().statistics().logBytes() + ", keys " + count(backend))
            .isLessThan(PATIENCE.toNanos());
      }
      try (Stream<String> listed = backend.getKeys("value", "")) {
        assertThat(listed).containsExactlyInAnyOrder(keys.getFirst(), "another");
      }
      for (String key : keys) {
        state(backend, key, "", timed).update("again");
      }
      try (Stream<String> listed = backend.getKeys("value", "")) {
        assertThat(Set.copyOf(listed.toList())).containsAll(keys).hasSize(keys.size() + 1);
      }
      List<KeyedStateHandle> handles =
          new ArrayList<>(backends.snapshot(CheckpointType.CHECKPOINT));
      try (LongKeyBackends restored = LongKeyBackends.open(config(), 2, handles, now::get)) {
        for (String key : keys) {
          assertThat(state(restored.of(key), key, "", timed).value()).isEqualTo("again");
        }
      }
    }
  }
}
