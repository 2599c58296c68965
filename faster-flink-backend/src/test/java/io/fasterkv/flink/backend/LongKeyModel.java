package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.key.LongKeyLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.internal.InternalMergingState;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.util.CloseableIterator;

/**
 * State of all kinds and timers, with keys and namespaces of up to 200 KiB and values of 1 byte to
 * 1 MiB, and their expected contents in java.util collections. The model advances its clock itself.
 */
final class LongKeyModel {
  static final int MOST_KEY_BYTES = 200 << 10;
  static final int MOST_VALUE_BYTES = 1 << 20;

  private static final int KEYS = 60;
  private static final int NAMESPACES = 2;
  private static final int KINDS = 8;
  private static final Duration TTL = Duration.ofSeconds(1);

  /** More keys than an index of 1 MiB has entries. */
  private static final int SMALL_KEYS = 20_000;

  static final ValueStateDescriptor<byte[]> VALUE =
      new ValueStateDescriptor<>("value", BytePrimitiveArraySerializer.INSTANCE);
  static final ListStateDescriptor<byte[]> LIST =
      new ListStateDescriptor<>("list", BytePrimitiveArraySerializer.INSTANCE);
  static final MapStateDescriptor<String, byte[]> MAP =
      new MapStateDescriptor<>(
          "map", StringSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE);
  static final ReducingStateDescriptor<byte[]> REDUCING =
      new ReducingStateDescriptor<>(
          "reducing", LongKeyModel::joined, BytePrimitiveArraySerializer.INSTANCE);
  static final AggregatingStateDescriptor<byte[], byte[], Integer> AGGREGATING =
      new AggregatingStateDescriptor<>(
          "aggregating", new Joining(), BytePrimitiveArraySerializer.INSTANCE);

  private static final ValueStateDescriptor<byte[]> TIMED_VALUE =
      timed(new ValueStateDescriptor<>("timed value", BytePrimitiveArraySerializer.INSTANCE));
  private static final ListStateDescriptor<byte[]> TIMED_LIST =
      timed(new ListStateDescriptor<>("timed list", BytePrimitiveArraySerializer.INSTANCE));
  private static final MapStateDescriptor<String, byte[]> TIMED_MAP =
      timed(
          new MapStateDescriptor<>(
              "timed map", StringSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE));

  private static final Comparator<TimerHeapInternalTimer<String, String>> ORDER =
      Comparator.<TimerHeapInternalTimer<String, String>>comparingLong(
              TimerHeapInternalTimer::getTimestamp)
          .thenComparing(TimerHeapInternalTimer::getKey)
          .thenComparing(TimerHeapInternalTimer::getNamespace);

  /** A key and a namespace. */
  private record Place(String key, String namespace) {}

  private record Timed(byte[] bytes, long since) {}

  private final SplittableRandom random;
  private final List<Place> places = new ArrayList<>();
  private final Map<Place, byte[]> values = new HashMap<>();
  private final Map<Place, List<byte[]>> lists = new HashMap<>();
  private final Map<Place, Map<String, byte[]>> maps = new HashMap<>();
  private final Map<Place, byte[]> reduced = new HashMap<>();
  private final Map<Place, byte[]> aggregated = new HashMap<>();
  private final Map<Place, Timed> timedValues = new HashMap<>();
  private final Map<Place, List<Timed>> timedLists = new HashMap<>();
  private final Map<Place, Map<String, Timed>> timedMaps = new HashMap<>();
  private final TreeSet<TimerHeapInternalTimer<String, String>> timers = new TreeSet<>(ORDER);
  private final Map<Integer, byte[]> small = new HashMap<>();
  private final AtomicLong now = new AtomicLong(1_000_000);

  LongKeyModel(SplittableRandom random) {
    this.random = random;
    for (int key = 0; key < KEYS; key++) {
      String text = text(key, key == 0 ? MOST_KEY_BYTES : length(key % 6));
      places.add(new Place(text, ""));
      places.add(new Place(text, text(key, length(key % 4))));
    }
  }

  /**
   * A length: any for kind 0, around the limit of a short key for kind 1, otherwise a small one.
   */
  private int length(int kind) {
    return switch (kind) {
      case 0 -> random.nextInt(MOST_KEY_BYTES);
      case 1 -> LongKeyLayout.MOST_SHORT_BYTES - 10 + random.nextInt(20);
      default -> random.nextInt(40);
    };
  }

  /** The clock of the backends. */
  TtlTimeProvider time() {
    return now::get;
  }

  private static <D extends StateDescriptor<?, ?>> D timed(D descriptor) {
    descriptor.enableTimeToLive(StateTtlConfig.newBuilder(TTL).build());
    return descriptor;
  }

  /** A string of at least {@code bytes} bytes that begins with {@code number}. */
  private static String text(int number, int bytes) {
    String first = number + ":";
    return first + "k".repeat(Math.max(0, bytes - first.length()));
  }

  private static byte[] joined(byte[] one, byte[] other) {
    byte[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both.length <= MOST_VALUE_BYTES ? both : other;
  }

  private static final class Joining implements AggregateFunction<byte[], byte[], Integer> {
    private static final long serialVersionUID = 1L;

    @Override
    public byte[] createAccumulator() {
      return new byte[0];
    }

    @Override
    public byte[] add(byte[] value, byte[] accumulator) {
      return joined(accumulator, value);
    }

    @Override
    public Integer getResult(byte[] accumulator) {
      return Arrays.hashCode(accumulator);
    }

    @Override
    public byte[] merge(byte[] one, byte[] other) {
      return joined(one, other);
    }
  }

  /** A state in the shortest namespace. */
  static <S extends State> S state(
      FasterKeyedStateBackend<String> backend, StateDescriptor<S, ?> descriptor) throws Exception {
    return state(backend, "", descriptor);
  }

  static <S extends State> S state(
      FasterKeyedStateBackend<String> backend, String namespace, StateDescriptor<S, ?> descriptor)
      throws Exception {
    return backend.getPartitionedState(namespace, StringSerializer.INSTANCE, descriptor);
  }

  private static <S extends State> S state(
      LongKeyBackends backends, Place place, StateDescriptor<S, ?> descriptor) throws Exception {
    FasterKeyedStateBackend<String> backend = backends.of(place.key());
    backend.setCurrentKey(place.key());
    return state(backend, place.namespace(), descriptor);
  }

  /**
   * Writes one value of each kind with the longest key and the most bytes, and others of all sizes.
   */
  void change(LongKeyBackends backends, int times) throws Exception {
    for (int kind = 0; kind < KINDS; kind++) {
      change(backends, places.getFirst(), kind, MOST_VALUE_BYTES);
    }
    int from = random.nextInt(SMALL_KEYS / 2);
    for (int key = from; key < from + SMALL_KEYS / 2; key++) {
      byte[] value = Seeds.bytes(random, 1 + key % 8);
      state(backends, smallPlace(key), VALUE).update(value);
      small.put(key, value);
    }
    for (int i = 0; i < times; i++) {
      Place place = places.get(random.nextInt(places.size()));
      change(backends, place, random.nextInt(KINDS), 1 << random.nextInt(16));
      if (random.nextInt(10) == 0) {
        clear(backends, place, random.nextInt(KINDS));
      }
      if (random.nextInt(10) == 0) {
        merge(backends, random.nextInt(KEYS));
      }
      changeTimers(backends, place.key());
      now.addAndGet(random.nextLong(TTL.toMillis() / 20));
    }
  }

  private static Place smallPlace(int key) {
    return new Place("small " + key, "");
  }

  private void change(LongKeyBackends backends, Place place, int kind, int mostBytes)
      throws Exception {
    int least = mostBytes == MOST_VALUE_BYTES ? mostBytes : Math.max(1, mostBytes / 2);
    byte[] bytes = Seeds.bytes(random, random.nextInt(least, mostBytes + 1));
    String userKey = text(random.nextInt(60), 1 << random.nextInt(18));
    Timed timed = new Timed(bytes, now.get());
    switch (kind) {
      case 0 -> {
        state(backends, place, VALUE).update(bytes);
        values.put(place, bytes);
      }
      case 1 -> {
        state(backends, place, LIST).add(bytes);
        lists.computeIfAbsent(place, absent -> new ArrayList<>()).add(bytes);
      }
      case 2 -> {
        state(backends, place, MAP).put(userKey, bytes);
        maps.computeIfAbsent(place, absent -> new HashMap<>()).put(userKey, bytes);
      }
      case 3 -> {
        state(backends, place, REDUCING).add(bytes);
        reduced.merge(place, bytes, LongKeyModel::joined);
      }
      case 4 -> {
        state(backends, place, AGGREGATING).add(bytes);
        aggregated.merge(place, bytes, LongKeyModel::joined);
      }
      case 5 -> {
        state(backends, place, TIMED_VALUE).update(bytes);
        timedValues.put(place, timed);
      }
      case 6 -> {
        state(backends, place, TIMED_LIST).add(bytes);
        timedLists.computeIfAbsent(place, absent -> new ArrayList<>()).add(timed);
      }
      default -> {
        state(backends, place, TIMED_MAP).put(userKey, bytes);
        timedMaps.computeIfAbsent(place, absent -> new HashMap<>()).put(userKey, timed);
      }
    }
  }

  private void clear(LongKeyBackends backends, Place place, int kind) throws Exception {
    List<StateDescriptor<?, ?>> states =
        List.of(VALUE, LIST, MAP, REDUCING, AGGREGATING, TIMED_VALUE, TIMED_LIST, TIMED_MAP);
    List<Map<Place, ?>> expected =
        List.of(values, lists, maps, reduced, aggregated, timedValues, timedLists, timedMaps);
    state(backends, place, states.get(kind)).clear();
    expected.get(kind).remove(place);
  }

  /** Merges the second namespace of a key into the first. */
  private void merge(LongKeyBackends backends, int key) throws Exception {
    Place target = places.get(NAMESPACES * key);
    Place source = places.get(NAMESPACES * key + 1);
    merge(backends, LIST, target, source);
    List<byte[]> elements = lists.remove(source);
    if (elements != null) {
      lists.computeIfAbsent(target, absent -> new ArrayList<>()).addAll(elements);
    }
    merge(backends, REDUCING, target, source);
    merge(backends, AGGREGATING, target, source);
    for (Map<Place, byte[]> merged : List.of(reduced, aggregated)) {
      byte[] value = merged.remove(source);
      if (value != null) {
        merged.merge(target, value, LongKeyModel::joined);
      }
    }
  }

  @SuppressWarnings("unchecked") // States of this backend implement Flink's internal interfaces.
  private static <S extends State> void merge(
      LongKeyBackends backends, StateDescriptor<S, ?> descriptor, Place target, Place source)
      throws Exception {
    S state = state(backends, target, descriptor);
    ((InternalMergingState<String, String, ?, ?, ?>) state)
        .mergeNamespaces(target.namespace(), List.of(source.namespace()));
  }

  private void changeTimers(LongKeyBackends backends, String key) {
    String namespace = text(random.nextInt(5), 1 << random.nextInt(9));
    var timer = new TimerHeapInternalTimer<>(random.nextLong(1_000), key, namespace);
    var queue = backends.timers(backends.of(key));
    if (random.nextInt(4) == 0) {
      queue.remove(timer);
      timers.remove(timer);
    } else {
      queue.add(timer);
      timers.add(timer);
    }
  }

  /** Compares everything that the backends contain. */
  void check(LongKeyBackends backends) throws Exception {
    for (Place place : places) {
      assertThat(state(backends, place, VALUE).value()).isEqualTo(values.get(place));
      StateContents.checkList(state(backends, place, LIST), lists.getOrDefault(place, List.of()));
      StateContents.checkUntimedMap(
          state(backends, place, MAP), maps.getOrDefault(place, Map.of()));
      assertThat(state(backends, place, REDUCING).get()).isEqualTo(reduced.get(place));
      byte[] accumulator = aggregated.get(place);
      assertThat(state(backends, place, AGGREGATING).get())
          .isEqualTo(accumulator == null ? null : Arrays.hashCode(accumulator));
      checkTimed(backends, place);
    }
    for (int key = 0; key < SMALL_KEYS; key++) {
      byte[] value = state(backends, smallPlace(key), VALUE).value();
      assertThat(Arrays.equals(value, small.get(key))).isTrue();
    }
    checkTimers(backends);
    checkListings(backends);
  }

  private void checkTimed(LongKeyBackends backends, Place place) throws Exception {
    Timed value = timedValues.get(place);
    assertThat(state(backends, place, TIMED_VALUE).value())
        .isEqualTo(value != null && isAlive(value) ? value.bytes() : null);
    StateContents.checkList(
        state(backends, place, TIMED_LIST),
        timedLists.getOrDefault(place, List.of()).stream()
            .filter(this::isAlive)
            .map(Timed::bytes)
            .toList());
    Map<String, byte[]> entries = new HashMap<>();
    timedMaps
        .getOrDefault(place, Map.of())
        .forEach((userKey, timed) -> {
          if (isAlive(timed)) {
            entries.put(userKey, timed.bytes());
          }
        });
    StateContents.checkMap(state(backends, place, TIMED_MAP), entries);
  }

  private boolean isAlive(Timed timed) {
    return now.get() < timed.since() + TTL.toMillis();
  }

  private void checkListings(LongKeyBackends backends) {
    Set<Place> withValue = new HashSet<>(values.keySet());
    small.keySet().forEach(key -> withValue.add(smallPlace(key)));
    Set<String> withAny = new HashSet<>();
    Stream.of(withValue, maps.keySet(), reduced.keySet())
        .flatMap(Set::stream)
        .filter(place -> place.namespace().isEmpty())
        .forEach(place -> withAny.add(place.key()));
    List<Place> listed = new ArrayList<>();
    List<String> keys = new ArrayList<>();
    for (FasterKeyedStateBackend<String> subtask : backends.subtasks()) {
      try (Stream<Tuple2<String, String>> pairs = subtask.getKeysAndNamespaces("value");
          Stream<String> all = subtask.getKeys(List.of("value", "map", "reducing"), "")) {
        pairs.forEach(pair -> listed.add(new Place(pair.f0, pair.f1)));
        all.forEach(keys::add);
      }
    }
    assertThat(listed).doesNotHaveDuplicates().hasSize(withValue.size());
    assertThat(withValue.containsAll(listed)).isTrue();
    assertThat(keys).doesNotHaveDuplicates().hasSize(withAny.size());
    assertThat(withAny.containsAll(keys)).isTrue();
  }

  private void checkTimers(LongKeyBackends backends) throws Exception {
    TreeSet<TimerHeapInternalTimer<String, String>> found = new TreeSet<>(ORDER);
    for (FasterKeyedStateBackend<String> backend : backends.subtasks()) {
      try (CloseableIterator<TimerHeapInternalTimer<String, String>> all =
          backends.timers(backend).iterator()) {
        all.forEachRemaining(found::add);
      }
    }
    assertThat(found.size()).isEqualTo(timers.size());
    var expected = timers.iterator();
    for (TimerHeapInternalTimer<String, String> timer : found) {
      assertThat(ORDER.compare(timer, expected.next())).isZero();
    }
  }
}
