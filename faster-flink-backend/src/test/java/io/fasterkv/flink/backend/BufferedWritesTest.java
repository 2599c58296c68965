package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.apache.flink.runtime.testutils.statemigration.TestType;
import org.apache.flink.runtime.testutils.statemigration.TestType.V1TestTypeSerializer;
import org.apache.flink.runtime.testutils.statemigration.TestType.V2TestTypeSerializer;
import org.apache.flink.util.function.BiConsumerWithException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that no reader notices that the last writes of a sequence are buffered and not yet in the
 * store.
 */
class BufferedWritesTest {
  private static final int KEYS = 43;
  private static final int MANY = 20_000;
  private static final ValueStateDescriptor<Long> VALUE =
      new ValueStateDescriptor<>("value", LongSerializer.INSTANCE);
  private static final ListStateDescriptor<Long> LIST =
      new ListStateDescriptor<>("list", LongSerializer.INSTANCE);
  private static final MapStateDescriptor<Integer, Long> MAP =
      new MapStateDescriptor<>("map", IntSerializer.INSTANCE, LongSerializer.INSTANCE);

  @TempDir Path directory;
  private TestBackends backends;
  private FasterKeyedStateBackend<Integer> backend;

  @BeforeEach
  void open() throws Exception {
    backends = new TestBackends(TestSettings.TINY, directory);
    backend = backends.open();
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
  }

  private <S extends State> void row(
      StateDescriptor<S, ?> descriptor, BiConsumerWithException<S, Integer, Exception> write)
      throws Exception {
    S state = ModelStates.state(backend, descriptor);
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      write.accept(state, key);
    }
  }

  @Test
  void aSnapshotHasThem() throws Exception {
    row(VALUE, (state, key) -> state.update((long) key));
    KeyedStateHandle values = TestBackends.snapshot(backend);
    row(LIST, (state, key) -> state.add((long) key));
    row(MAP, (state, key) -> state.put(key, (long) key));
    KeyedStateHandle all = TestBackends.snapshot(backend);
    row(MAP, (state, key) -> state.remove(key));
    row(VALUE, (state, key) -> state.clear());
    KeyedStateHandle lists = TestBackends.snapshot(backend);

    assertThat(held(values)).containsExactly(KEYS, 0, 0);
    assertThat(held(all)).containsExactly(KEYS, KEYS, KEYS);
    assertThat(held(lists)).containsExactly(0, KEYS, 0);
  }

  /** The numbers of keys that have a value, a list and a map. */
  private List<Integer> held(KeyedStateHandle handle) throws Exception {
    FasterKeyedStateBackend<Integer> restored = backends.open(handle);
    ValueState<Long> value = ModelStates.state(restored, VALUE);
    ListState<Long> list = ModelStates.state(restored, LIST);
    MapState<Integer, Long> map = ModelStates.state(restored, MAP);
    int values = 0;
    int lists = 0;
    int maps = 0;
    for (int key = 0; key < KEYS; key++) {
      restored.setCurrentKey(key);
      Long number = (long) key;
      values += number.equals(value.value()) ? 1 : 0;
      Iterable<Long> elements = list.get();
      lists += elements != null && elements.iterator().next().equals(number) ? 1 : 0;
      maps += number.equals(map.get(key)) ? 1 : 0;
    }
    return List.of(values, lists, maps);
  }

  @Test
  void aSavepointHasThem() throws Exception {
    row(VALUE, (state, key) -> state.update((long) key));
    int entries = 0;
    var resources = backend.savepoint().getSnapshotResources();
    try (var iterator = resources.createKVStateIterator()) {
      for (; iterator.isValid(); iterator.next()) {
        entries++;
      }
    } finally {
      resources.release();
    }
    assertThat(entries).isEqualTo(KEYS);
  }

  @Test
  void listingsHaveThem() throws Exception {
    List<Integer> all = IntStream.range(0, KEYS).boxed().toList();
    row(VALUE, (state, key) -> state.update((long) key));
    assertThat(keys()).isEqualTo(all);
    row(VALUE, (state, key) -> state.clear());
    assertThat(backend.numKeyValueStateEntries()).isZero();
    row(VALUE, (state, key) -> state.update((long) key));
    assertThat(backend.numKeyValueStateEntries()).isEqualTo(KEYS);
    row(VALUE, (state, key) -> state.clear());
    try (var pairs = backend.getKeysAndNamespaces("value")) {
      assertThat(pairs.count()).isZero();
    }
    row(VALUE, (state, key) -> state.update((long) key));
    List<Integer> visited = new ArrayList<>();
    backend.applyToAllKeys(
        VoidNamespace.INSTANCE,
        VoidNamespaceSerializer.INSTANCE,
        VALUE,
        (key, state) -> {
          visited.add(key);
          state.clear();
        });
    assertThat(visited).containsExactlyInAnyOrderElementsOf(all);
    assertThat(keys()).isEmpty();
  }

  private List<Integer> keys() {
    try (Stream<Integer> keys = backend.getKeys("value", VoidNamespace.INSTANCE)) {
      return keys.sorted().toList();
    }
  }

  @Test
  @SuppressWarnings("unchecked") // States of this backend implement Flink's internal interfaces.
  void aVisitorMeetsThem() throws Exception {
    row(VALUE, (state, key) -> state.update((long) key));
    var state =
        (InternalKvState<Integer, VoidNamespace, Long>) (Object) ModelStates.state(backend, VALUE);
    List<Integer> visited = new ArrayList<>();
    for (var visitor = state.getStateIncrementalVisitor(10); visitor.hasNext(); ) {
      visitor.nextEntries().forEach(entry -> visited.add(entry.getKey()));
    }
    assertThat(visited).hasSize(KEYS).doesNotHaveDuplicates();
  }

  @Test
  void anIteratorSeesConcurrentPuts() throws Exception {
    MapState<Integer, Long> map = manyEntries();
    var iterator = map.iterator();
    var first = iterator.next();
    for (int key = 0; key < MANY; key++) {
      map.put(key, 1L);
    }
    assertThat(first.getValue()).isZero();
    int met = 1;
    int changed = 0;
    while (iterator.hasNext()) {
      met++;
      changed += iterator.next().getValue() == 1 ? 1 : 0;
      iterator.remove();
    }
    assertThat(met).isEqualTo(MANY);
    assertThat(changed).isGreaterThan(MANY / 2);
    assertThat(map.get(first.getKey())).isEqualTo(1L);
    map.remove(first.getKey());
    assertThat(map.isEmpty()).isTrue();
  }

  @Test
  void anIteratorMeetsThatItsMapIsCleared() throws Exception {
    MapState<Integer, Long> map = manyEntries();
    var iterator = map.iterator();
    iterator.next();
    for (int key = 0; key < KEYS; key++) {
      map.put(key, 1L);
    }
    map.clear();
    int met = 0;
    for (; iterator.hasNext(); iterator.next()) {
      met++;
    }
    assertThat(met).isLessThan(MANY / 2);
  }

  /** A map with more entries than one read returns. */
  private MapState<Integer, Long> manyEntries() throws Exception {
    MapState<Integer, Long> map = ModelStates.state(backend, MAP);
    backend.setCurrentKey(1);
    for (int key = 0; key < MANY; key++) {
      map.put(key, 0L);
    }
    return map;
  }

  @Test
  @SuppressWarnings("unchecked") // States of this backend implement Flink's internal interfaces.
  void otherThreadsSeeWhatIsPublishedAtOnce() throws Exception {
    ValueStateDescriptor<Long> published =
        new ValueStateDescriptor<>("published", LongSerializer.INSTANCE);
    published.setQueryable("name");
    ValueState<Long> state = ModelStates.state(backend, published);
    var inner = (InternalKvState<Integer, VoidNamespace, Long>) (Object) state;
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      state.update((long) key);
      int asked = key;
      assertThat(CompletableFuture.supplyAsync(() -> ask(inner, asked)).get()).isEqualTo(key);
    }
  }

  @Test
  void aMigrationMeetsThem() throws Exception {
    ValueState<TestType> state = upgradable(new V1TestTypeSerializer());
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      state.update(new TestType("key", key));
    }
    state = upgradable(new V2TestTypeSerializer());
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      assertThat(state.value()).isEqualTo(new TestType("key", key));
    }
  }

  private ValueState<TestType> upgradable(TypeSerializer<TestType> serializer) throws Exception {
    ValueState<TestType> state =
        backend.createOrUpdateInternalState(
            VoidNamespaceSerializer.INSTANCE,
            new ValueStateDescriptor<>("migrated", serializer),
            StateSnapshotTransformFactory.noTransform(),
            true);
    ((InternalValueState<?, VoidNamespace, ?>) state).setCurrentNamespace(VoidNamespace.INSTANCE);
    return state;
  }

  @Test
  @SuppressWarnings("unchecked") // States of this backend implement Flink's internal interfaces.
  void theTaskThreadSeesWhatIsNotPublished() throws Exception {
    row(VALUE, (state, key) -> state.update((long) key));
    var inner =
        (InternalKvState<Integer, VoidNamespace, Long>) (Object) ModelStates.state(backend, VALUE);
    row(VALUE, (state, key) -> state.update(key + 1L));
    assertThat(ask(inner, KEYS - 1)).isEqualTo(KEYS);
  }

  private static Long ask(InternalKvState<Integer, VoidNamespace, Long> state, int key) {
    try {
      byte[] question =
          KvStateSerializer.serializeKeyAndNamespace(
              key,
              IntSerializer.INSTANCE,
              VoidNamespace.INSTANCE,
              VoidNamespaceSerializer.INSTANCE);
      byte[] answer =
          state.getSerializedValue(
              question,
              IntSerializer.INSTANCE,
              VoidNamespaceSerializer.INSTANCE,
              LongSerializer.INSTANCE);
      return KvStateSerializer.deserializeValue(answer, LongSerializer.INSTANCE);
    } catch (Exception failure) {
      throw new AssertionError(failure);
    }
  }
}
