package io.fasterkv.bench.flink;

import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyedStateBackend;

/** Value state of numbers. */
final class ValueLoops implements StateLoops {
  private final StateData data;
  private final KeyedStateBackend<Long> backend;
  private final ValueState<Long> state;

  ValueLoops(StateData data, OpenBackend<Long> opened, StateTtlConfig ttl) throws Exception {
    this.data = data;
    backend = opened.backend();
    ValueStateDescriptor<Long> descriptor =
        new ValueStateDescriptor<>("kvState", LongSerializer.INSTANCE);
    descriptor.enableTimeToLive(ttl);
    state = opened.state(descriptor);
  }

  @Override
  public void load() throws Exception {
    for (int i = 0; i < data.size(); i++) {
      backend.setCurrentKey((long) i);
      state.update(data.values[i]);
    }
  }

  @Override
  public long run(StateRow row, int from, int to) throws Exception {
    return switch (row) {
      case valueUpdate -> update(data.setUpKeys, from, to);
      case valueAdd -> update(data.newKeys, from, to);
      case valueGet -> get(from, to);
      default -> throw new IllegalArgumentException("not of value state: row=" + row);
    };
  }

  private long update(long[] keys, int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      backend.setCurrentKey(keys[i % keys.length]);
      state.update(data.values[i % data.values.length]);
    }
    return 0;
  }

  private long get(int from, int to) throws Exception {
    long sum = 0;
    for (int i = from; i < to; i++) {
      backend.setCurrentKey(data.setUpKeys[i % data.setUpKeys.length]);
      sum += state.value();
    }
    return sum;
  }

  @Override
  public void restore(StateRow row, int from, int to) throws Exception {
    if (row == StateRow.valueAdd) {
      for (int i = from; i < to; i++) {
        backend.setCurrentKey(data.newKeys[i % data.newKeys.length]);
        state.clear();
      }
    }
  }
}
