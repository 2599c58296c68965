package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.util.CloseableIterator;

/**
 * State of all kinds and timers, of keys of up to 16 KiB and values of 1 byte to 1 MiB, beside what
 * they should hold in collections of java.util.
 */
final class LongKeyModel {
  static final int MOST_KEY_BYTES = 16 << 10;
  static final int MOST_VALUE_BYTES = 1 << 20;

  private static final int KEYS = 120;
  private static final int KINDS = 5;

  /** More than the index of 1 MiB has entries. */
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

  private static final Comparator<TimerHeapInternalTimer<String, String>> ORDER =
      Comparator.<TimerHeapInternalTimer<String, String>>comparingLong(
              TimerHeapInternalTimer::getTimestamp)
          .thenComparing(TimerHeapInternalTimer::getKey)
          .thenComparing(TimerHeapInternalTimer::getNamespace);

  private final SplittableRandom random;
  private final List<String> keys = new ArrayList<>();
  private final Map<String, byte[]> values = new HashMap<>();
  private final Map<String, List<byte[]>> lists = new HashMap<>();
  private final Map<String, Map<String, byte[]>> maps = new HashMap<>();
  private final Map<String, byte[]> reduced = new HashMap<>();
  private final Map<String, byte[]> aggregated = new HashMap<>();
  private final TreeSet<TimerHeapInternalTimer<String, String>> timers = new TreeSet<>(ORDER);
  private final Map<Integer, byte[]> small = new HashMap<>();

  LongKeyModel(SplittableRandom random) {
    this.random = random;
    for (int key = 0; key < KEYS; key++) {
      int most = key == 0 ? MOST_KEY_BYTES : key % 12 == 0 ? random.nextInt(MOST_KEY_BYTES) : 40;
      keys.add(text(key, most));
    }
  }

  /** A string of so many bytes, or a little more, that begins with a number. */
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

  @SuppressWarnings("unchecked")
  static <S extends State> S state(
      FasterKeyedStateBackend<String> backend, StateDescriptor<S, ?> descriptor) throws Exception {
    return backend.getPartitionedState(
        VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
  }

  /** One value of each kind with the longest key and the most bytes, and others of all sizes. */
  void change(LongKeyBackends backends, int times) throws Exception {
    for (int kind = 0; kind < KINDS; kind++) {
      change(backends, keys.getFirst(), kind, MOST_VALUE_BYTES);
    }
    int from = random.nextInt(SMALL_KEYS / 2);
    for (int key = from; key < from + SMALL_KEYS / 2; key++) {
      FasterKeyedStateBackend<String> backend = backends.of("small " + key);
      backend.setCurrentKey("small " + key);
      byte[] value = Seeds.bytes(random, 1 + key % 8);
      state(backend, VALUE).update(value);
      small.put(key, value);
    }
    for (int i = 0; i < times; i++) {
      String key = keys.get(random.nextInt(KEYS));
      change(backends, key, random.nextInt(KINDS), 1 << random.nextInt(16));
      if (random.nextInt(10) == 0) {
        clear(backends.of(key), key, random.nextInt(KINDS));
      }
      changeTimers(backends, key);
    }
  }

  private void change(LongKeyBackends backends, String key, int kind, int mostBytes)
      throws Exception {
    FasterKeyedStateBackend<String> backend = backends.of(key);
    backend.setCurrentKey(key);
    int least = mostBytes == MOST_VALUE_BYTES ? mostBytes : Math.max(1, mostBytes / 2);
    byte[] bytes = Seeds.bytes(random, random.nextInt(least, mostBytes + 1));
    switch (kind) {
      case 0 -> {
        state(backend, VALUE).update(bytes);
        values.put(key, bytes);
      }
      case 1 -> {
        state(backend, LIST).add(bytes);
        lists.computeIfAbsent(key, absent -> new ArrayList<>()).add(bytes);
      }
      case 2 -> {
        String userKey = text(random.nextInt(60), 1 << random.nextInt(14));
        state(backend, MAP).put(userKey, bytes);
        maps.computeIfAbsent(key, absent -> new HashMap<>()).put(userKey, bytes);
      }
      case 3 -> {
        state(backend, REDUCING).add(bytes);
        reduced.merge(key, bytes, LongKeyModel::joined);
      }
      default -> {
        state(backend, AGGREGATING).add(bytes);
        aggregated.merge(key, bytes, LongKeyModel::joined);
      }
    }
  }

  private void clear(FasterKeyedStateBackend<String> backend, String key, int kind)
      throws Exception {
    backend.setCurrentKey(key);
    switch (kind) {
      case 0 -> {
        state(backend, VALUE).clear();
        values.remove(key);
      }
      case 1 -> {
        state(backend, LIST).clear();
        lists.remove(key);
      }
      case 2 -> {
        state(backend, MAP).clear();
        maps.remove(key);
      }
      case 3 -> {
        state(backend, REDUCING).clear();
        reduced.remove(key);
      }
      default -> {
        state(backend, AGGREGATING).clear();
        aggregated.remove(key);
      }
    }
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

  /** Compares all that the backends hold. */
  void check(LongKeyBackends backends) throws Exception {
    for (String key : keys) {
      FasterKeyedStateBackend<String> backend = backends.of(key);
      backend.setCurrentKey(key);
      assertThat(state(backend, VALUE).value()).isEqualTo(values.get(key));
      ListState<byte[]> list = state(backend, LIST);
      Iterable<byte[]> elements = list.get();
      assertThat(elements == null ? List.<byte[]>of() : elements)
          .usingElementComparator(Arrays::compare)
          .containsExactlyElementsOf(lists.getOrDefault(key, List.of()));
      checkMap(state(backend, MAP), maps.getOrDefault(key, Map.of()));
      assertThat(state(backend, REDUCING).get()).isEqualTo(reduced.get(key));
      byte[] accumulator = aggregated.get(key);
      assertThat(state(backend, AGGREGATING).get())
          .isEqualTo(accumulator == null ? null : Arrays.hashCode(accumulator));
    }
    for (int key = 0; key < SMALL_KEYS; key++) {
      FasterKeyedStateBackend<String> backend = backends.of("small " + key);
      backend.setCurrentKey("small " + key);
      assertThat(Arrays.equals(state(backend, VALUE).value(), small.get(key))).isTrue();
    }
    checkTimers(backends);
  }

  private static void checkMap(MapState<String, byte[]> map, Map<String, byte[]> expected)
      throws Exception {
    Map<String, byte[]> found = new HashMap<>();
    for (Map.Entry<String, byte[]> entry : map.entries()) {
      found.put(entry.getKey(), entry.getValue());
    }
    assertThat(found).containsOnlyKeys(expected.keySet());
    expected.forEach((key, value) -> assertThat(found.get(key)).isEqualTo(value));
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
