package io.fasterkv.bench.flink;

import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyedStateBackend;

/** List state of numbers; set-up keys have lists of one element. */
final class ListLoops implements StateLoops {
  private final StateData data;
  private final KeyedStateBackend<Long> backend;
  private final ListState<Long> state;

  ListLoops(StateData data, OpenBackend<Long> opened, StateTtlConfig ttl) throws Exception {
    this.data = data;
    backend = opened.backend();
    ListStateDescriptor<Long> descriptor =
        new ListStateDescriptor<>("listState", LongSerializer.INSTANCE);
    descriptor.enableTimeToLive(ttl);
    state = opened.state(descriptor);
  }

  @Override
  public void load() throws Exception {
    for (int i = 0; i < data.size(); i++) {
      backend.setCurrentKey((long) i);
      state.add(data.values[i]);
    }
  }

  @Override
  public long run(StateRow row, int from, int to) throws Exception {
    return switch (row) {
      case listUpdate -> update(data.setUpKeys, from, to);
      case listAdd -> update(data.newKeys, from, to);
      case listAppend -> append(from, to);
      case listGet -> get(from, to);
      case listGetAndIterate -> getAndIterate(from, to);
      case listAddAll -> addAll(from, to);
      default -> throw new IllegalArgumentException("not of list state: row=" + row);
    };
  }

  private long update(long[] keys, int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      backend.setCurrentKey(keys[i % keys.length]);
      state.update(List.of(data.values[i % data.values.length]));
    }
    return 0;
  }

  private long append(int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      backend.setCurrentKey(data.setUpKeys[i % data.setUpKeys.length]);
      state.add(data.values[(i + 1) % data.values.length]);
    }
    return 0;
  }

  private long get(int from, int to) throws Exception {
    long found = 0;
    for (int i = from; i < to; i++) {
      backend.setCurrentKey(data.setUpKeys[i % data.setUpKeys.length]);
      Iterable<Long> elements = state.get();
      found += elements == null ? 0 : 1;
    }
    return found;
  }

  private long getAndIterate(int from, int to) throws Exception {
    long sum = 0;
    for (int i = from; i < to; i++) {
      backend.setCurrentKey(data.setUpKeys[i % data.setUpKeys.length]);
      for (Long element : state.get()) {
        sum += element;
      }
    }
    return sum;
  }

  private long addAll(int from, int to) throws Exception {
    List<Long> many = data.manyValues;
    for (int i = from; i < to; i++) {
      backend.setCurrentKey(data.setUpKeys[i % data.setUpKeys.length]);
      state.addAll(many);
    }
    return 0;
  }

  @Override
  public void restore(StateRow row, int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      switch (row) {
        case listAppend, listAddAll -> {
          backend.setCurrentKey(data.setUpKeys[i % data.setUpKeys.length]);
          state.update(List.of(data.values[i % data.values.length]));
        }
        case listAdd -> {
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
