package io.fasterkv.flink.state;

import java.io.IOException;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.runtime.state.internal.InternalReducingState;
import org.jspecify.annotations.Nullable;

/** Implements reducing state. For the task thread. */
final class FasterReducingState<K, N, V> extends MergingValue<K, N, V, V, V>
    implements InternalReducingState<K, N, V> {
  private ReduceFunction<V> function;

  FasterReducingState(
      StateContext<K> context, RegisteredState<N, V> registered, StateDescriptor<?, V> descriptor) {
    super(context, registered);
    this.function = functionOf(descriptor);
  }

  @Override
  void update(StateDescriptor<?, V> descriptor) {
    updateSerializer();
    function = functionOf(descriptor);
  }

  @SuppressWarnings("unchecked")
  private static <V> ReduceFunction<V> functionOf(StateDescriptor<?, V> descriptor) {
    return ((ReducingStateDescriptor<V>) descriptor).getReduceFunction();
  }

  @Override
  V merge(V first, V second) throws Exception {
    return function.reduce(first, second);
  }

  @Override
  public @Nullable V get() throws IOException {
    return load();
  }

  @Override
  public void add(V value) throws Exception {
    V old = load();
    updateInternal(old == null ? value : function.reduce(old, value));
  }
}
