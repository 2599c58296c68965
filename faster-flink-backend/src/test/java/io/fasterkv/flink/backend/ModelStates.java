package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.Seeds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;

/** States of four types and their expected contents in java.util collections. */
final class ModelStates {
  private static final ValueStateDescriptor<byte[]> VALUE =
      new ValueStateDescriptor<>("value", BytePrimitiveArraySerializer.INSTANCE);
  private static final ListStateDescriptor<String> LIST =
      new ListStateDescriptor<>("list", StringSerializer.INSTANCE);
  private static final MapStateDescriptor<String, byte[]> MAP =
      new MapStateDescriptor<>(
          "map", StringSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE);
  private static final ReducingStateDescriptor<Long> SUM =
      new ReducingStateDescriptor<>("sum", Long::sum, LongSerializer.INSTANCE);

  private final Map<Integer, byte[]> values = new HashMap<>();
  private final Map<Integer, List<String>> lists = new HashMap<>();
  private final Map<Integer, Map<String, byte[]>> maps = new HashMap<>();
  private final Map<Integer, Long> sums = new HashMap<>();

  ModelStates() {}

  ModelStates(ModelStates other) {
    values.putAll(other.values);
    other.lists.forEach((key, list) -> lists.put(key, new ArrayList<>(list)));
    other.maps.forEach((key, map) -> maps.put(key, new HashMap<>(map)));
    sums.putAll(other.sums);
  }

  /** Changes states at random, and the model with them. */
  void change(
      FasterKeyedStateBackend<Integer> backend, SplittableRandom random, int keys, int times)
      throws Exception {
    ValueState<byte[]> value = state(backend, VALUE);
    ListState<String> list = state(backend, LIST);
    MapState<String, byte[]> map = state(backend, MAP);
    ReducingState<Long> sum = state(backend, SUM);
    // All operations are consecutive writes, except sums, which read first.
    int kinds = random.nextBoolean() ? 8 : 6;
    for (int i = 0; i < times; i++) {
      int key = random.nextInt(keys);
      if (!isOf(backend, key)) {
        continue;
      }
      backend.setCurrentKey(key);
      byte[] bytes = Seeds.bytes(random, random.nextInt(random.nextInt(50) == 0 ? 9_000 : 60));
      String userKey = "user key " + random.nextInt(100);
      switch (random.nextInt(kinds)) {
        case 0, 1 -> {
          value.update(bytes);
          values.put(key, bytes);
        }
        case 2, 3 -> {
          list.add(userKey);
          lists.computeIfAbsent(key, absent -> new ArrayList<>()).add(userKey);
        }
        case 4, 5 -> {
          byte[] userValue = random.nextInt(10) == 0 ? null : bytes;
          map.put(userKey, userValue);
          maps.computeIfAbsent(key, absent -> new HashMap<>()).put(userKey, userValue);
        }
        case 6 -> {
          sum.add((long) i);
          sums.merge(key, (long) i, Long::sum);
        }
        default -> remove(backend, random.nextInt(20), key, userKey);
      }
    }
  }

  private void remove(FasterKeyedStateBackend<Integer> backend, int kind, int key, String userKey)
      throws Exception {
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
        state(backend, SUM).clear();
        sums.remove(key);
      }
      default -> {
        ((MapState<String, byte[]>) state(backend, MAP)).remove(userKey);
        maps.computeIfPresent(
            key,
            (same, map) -> {
              map.remove(userKey);
              return map.isEmpty() ? null : map;
            });
      }
    }
  }

  /** Checks all keys of the backend's key groups. */
  void check(FasterKeyedStateBackend<Integer> backend, int keys) throws Exception {
    ValueState<byte[]> value = state(backend, VALUE);
    ListState<String> list = state(backend, LIST);
    MapState<String, byte[]> map = state(backend, MAP);
    ReducingState<Long> sum = state(backend, SUM);
    for (int key = 0; key < keys; key++) {
      if (!isOf(backend, key)) {
        continue;
      }
      backend.setCurrentKey(key);
      assertThat(value.value()).isEqualTo(values.get(key));
      List<String> elements = new ArrayList<>();
      if (list.get() != null) {
        list.get().forEach(elements::add);
      }
      assertThat(elements).isEqualTo(lists.getOrDefault(key, List.of()));
      StateContents.checkUntimedMap(map, maps.getOrDefault(key, Map.of()));
      assertThat(sum.get()).isEqualTo(sums.get(key));
    }
  }

  /** Whether the key belongs to one of the backend's key groups. */
  static boolean isOf(FasterKeyedStateBackend<?> backend, int key) {
    int group = KeyGroupRangeAssignment.assignToKeyGroup(key, TestBackends.KEY_GROUPS);
    return backend.getKeyGroupRange().contains(group);
  }

  /** Number of pairs of state and key with a value in the backend's key groups. */
  int count(FasterKeyedStateBackend<?> backend) {
    return (int)
        Stream.of(values, lists, maps, sums)
            .flatMap(state -> state.keySet().stream())
            .filter(key -> isOf(backend, key))
            .count();
  }

  /** Number of pairs of state and key with a value. */
  int count() {
    return values.size() + lists.size() + maps.size() + sums.size();
  }

  static <S extends State> S state(
      FasterKeyedStateBackend<Integer> backend, StateDescriptor<S, ?> descriptor) throws Exception {
    return backend.getPartitionedState(
        VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
  }
}
