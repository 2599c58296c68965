package io.fasterkv.flink.state;

import java.io.IOException;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.jspecify.annotations.Nullable;

/** Implements value state. For the task thread. */
final class FasterValueState<K, N, V> extends SingleValue<K, N, V>
    implements InternalValueState<K, N, V> {
  private @Nullable V defaultValue;

  FasterValueState(
      StateContext<K> context, RegisteredState<N, V> registered, StateDescriptor<?, V> descriptor) {
    super(context, registered);
    this.defaultValue = descriptor.getDefaultValue();
  }

  @Override
  void update(StateDescriptor<?, V> descriptor) {
    updateSerializer();
    defaultValue = descriptor.getDefaultValue();
  }

  @Override
  public @Nullable V value() throws IOException {
    V value = load();
    if (value == null && defaultValue != null) {
      return serializer().copy(defaultValue);
    }
    return value;
  }

  @Override
  public void update(@Nullable V value) throws IOException {
    if (value == null) {
      clear();
    } else {
      store(value);
    }
  }
}
