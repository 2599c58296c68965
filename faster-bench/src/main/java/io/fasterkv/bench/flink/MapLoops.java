package io.fasterkv.bench.flink;

import java.util.Iterator;
import java.util.Map;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.base.DoubleSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyedStateBackend;

/** Map state; set-up keys have maps of {@link StateData#MAP_KEYS} entries. */
final class MapLoops implements StateLoops {
  private final StateData data;
  private final KeyedStateBackend<Long> backend;
  private final MapState<Long, Double> state;

  MapLoops(StateData data, OpenBackend<Long> opened, StateTtlConfig ttl) throws Exception {
    this.data = data;
    backend = opened.backend();
    MapStateDescriptor<Long, Double> descriptor =
        new MapStateDescriptor<>("mapState", LongSerializer.INSTANCE, DoubleSerializer.INSTANCE);
    descriptor.enableTimeToLive(ttl);
    state = opened.state(descriptor);
  }

  @Override
  public void load() throws Exception {
    for (int i = 0; i < data.size(); i++) {
      backend.setCurrentKey((long) i);
      for (int entry = 0; entry < StateData.MAP_KEYS; entry++) {
        state.put(data.mapKeys[entry], data.mapValues[(i + entry) % StateData.MAP_KEYS]);
      }
    }
  }

  @Override
  public long run(StateRow row, int from, int to) throws Exception {
    return switch (row) {
      case mapUpdate -> put(data.setUpKeys, from, to);
      case mapAdd -> put(data.newKeys, from, to);
      case mapGet -> get(from, to);
      case mapContains -> contains(from, to);
      case mapIsEmpty -> isEmpty(from, to);
      case mapKeys -> keys(from, to);
      case mapValues -> values(from, to);
      case mapEntries -> entries(from, to);
      case mapIterator -> iterator(from, to);
      case mapRemove -> remove(from, to);
      case mapPutAll -> putAll(from, to);
      default -> throw new IllegalArgumentException("not of map state: row=" + row);
    };
  }

  private void select(int call) {
    backend.setCurrentKey(data.setUpKeys[call % data.setUpKeys.length]);
  }

  private long put(long[] keys, int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      backend.setCurrentKey(keys[i % keys.length]);
      state.put(data.mapKeys[i % StateData.MAP_KEYS], data.mapValues[i % StateData.MAP_KEYS]);
    }
    return 0;
  }

  private long get(int from, int to) throws Exception {
    double sum = 0;
    for (int i = from; i < to; i++) {
      select(i);
      sum += state.get(data.mapKeys[i % StateData.MAP_KEYS]);
    }
    return Double.doubleToLongBits(sum);
  }

  /** Half of them exist. */
  private long contains(int from, int to) throws Exception {
    long found = 0;
    for (int i = from; i < to; i++) {
      select(i);
      long key =
          i % 2 == 0
              ? data.mapKeys[i % StateData.MAP_KEYS]
              : data.absentMapKeys[i % StateData.MAP_KEYS];
      found += state.contains(key) ? 1 : 0;
    }
    return found;
  }

  private long isEmpty(int from, int to) throws Exception {
    long empty = 0;
    for (int i = from; i < to; i++) {
      select(i);
      empty += state.isEmpty() ? 1 : 0;
    }
    return empty;
  }

  private long keys(int from, int to) throws Exception {
    long sum = 0;
    for (int i = from; i < to; i++) {
      select(i);
      for (Long key : state.keys()) {
        sum += key;
      }
    }
    return sum;
  }

  private long values(int from, int to) throws Exception {
    long sum = 0;
    for (int i = from; i < to; i++) {
      select(i);
      for (Double value : state.values()) {
        sum += Double.doubleToLongBits(value);
      }
    }
    return sum;
  }

  private long entries(int from, int to) throws Exception {
    long sum = 0;
    for (int i = from; i < to; i++) {
      select(i);
      for (Map.Entry<Long, Double> entry : state.entries()) {
        sum += entry.getKey() * Double.doubleToLongBits(entry.getValue());
      }
    }
    return sum;
  }

  private long iterator(int from, int to) throws Exception {
    long sum = 0;
    for (int i = from; i < to; i++) {
      select(i);
      Iterator<Map.Entry<Long, Double>> iterator = state.iterator();
      while (iterator.hasNext()) {
        Map.Entry<Long, Double> entry = iterator.next();
        sum += entry.getKey() * Double.doubleToLongBits(entry.getValue());
      }
    }
    return sum;
  }

  private long remove(int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      select(i);
      state.remove(data.mapKeys[i % StateData.MAP_KEYS]);
    }
    return 0;
  }

  private long putAll(int from, int to) throws Exception {
    Map<Long, Double> many = data.manyEntries;
    for (int i = from; i < to; i++) {
      select(i);
      state.putAll(many);
    }
    return 0;
  }

  @Override
  public void restore(StateRow row, int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      switch (row) {
        case mapRemove -> {
          select(i);
          state.put(data.mapKeys[i % StateData.MAP_KEYS], data.mapValues[i % StateData.MAP_KEYS]);
        }
        case mapAdd -> {
          backend.setCurrentKey(data.newKeys[i % data.newKeys.length]);
          state.clear();
        }
        default -> {
          return;
        }
      }
    }
  }
}
