package io.fasterkv.flink.backend;

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;

/** One state of each shape, with or without a time to live. */
final class ExpiringStates {
  final ValueState<String> values;
  final ListState<String> lists;
  final MapState<Integer, String> maps;

  ExpiringStates(FasterKeyedStateBackend<Integer> backend, StateTtlConfig ttl) throws Exception {
    values = state(backend, new ValueStateDescriptor<>("values", StringSerializer.INSTANCE), ttl);
    lists = state(backend, new ListStateDescriptor<>("lists", StringSerializer.INSTANCE), ttl);
    maps =
        state(
            backend,
            new MapStateDescriptor<>("maps", IntSerializer.INSTANCE, StringSerializer.INSTANCE),
            ttl);
  }

  private static <S extends State> S state(
      FasterKeyedStateBackend<Integer> backend,
      StateDescriptor<S, ?> descriptor,
      StateTtlConfig ttl)
      throws Exception {
    if (ttl.isEnabled()) {
      descriptor.enableTimeToLive(ttl);
    }
    return backend.getPartitionedState(
        VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
  }
}
