package io.fasterkv.flink.state;

import java.io.IOException;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.runtime.state.internal.InternalAggregatingState;
import org.jspecify.annotations.Nullable;

/** Implements aggregating state; its value is the accumulator. For the task thread. */
final class FasterAggregatingState<K, N, T, A, R> extends MergingValue<K, N, T, A, R>
    implements InternalAggregatingState<K, N, T, A, R> {
  private AggregateFunction<T, A, R> function;

  FasterAggregatingState(
      StateContext<K> context, RegisteredState<N, A> registered, StateDescriptor<?, A> descriptor) {
    super(context, registered);
    this.function = functionOf(descriptor);
  }

  @Override
  void update(StateDescriptor<?, A> descriptor) {
    updateSerializer();
    function = functionOf(descriptor);
  }

  @SuppressWarnings("unchecked")
  private static <T, A, R> AggregateFunction<T, A, R> functionOf(StateDescriptor<?, A> descriptor) {
    return ((AggregatingStateDescriptor<T, A, R>) descriptor).getAggregateFunction();
  }

  @Override
  A merge(A first, A second) {
    return function.merge(first, second);
  }

  @Override
  public @Nullable R get() throws IOException {
    A accumulator = load();
    return accumulator == null ? null : function.getResult(accumulator);
  }

  @Override
  public void add(T value) throws IOException {
    A accumulator = load();
    updateInternal(
        function.add(value, accumulator == null ? function.createAccumulator() : accumulator));
  }
}
