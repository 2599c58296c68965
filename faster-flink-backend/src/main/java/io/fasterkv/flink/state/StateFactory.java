package io.fasterkv.flink.state;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * Creates the object of each registered state once, and updates it when the state is registered
 * again. For the task thread.
 *
 * @param <K> type of the keys
 */
public final class StateFactory<K> {
  private final StateContext<K> context;
  private final Map<Integer, AbstractFasterState<K, ?, ?>> made = new HashMap<>();

  public StateFactory(StateContext<K> context) {
    this.context = context;
  }

  /** Returns the state of a descriptor; the caller must ask for its type. */
  @SuppressWarnings("unchecked")
  public <N, V, S extends State, T extends S> T get(
      RegisteredState<N, V> registered, StateDescriptor<S, V> descriptor) {
    AbstractFasterState<K, N, V> state = (AbstractFasterState<K, N, V>) made.get(registered.id());
    if (state == null) {
      state = make(registered, descriptor);
      made.put(registered.id(), state);
    } else {
      state.update(descriptor);
    }
    if (descriptor.isQueryable()) {
      state.publish();
    }
    return (T) state;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private <N, V> AbstractFasterState<K, N, V> make(
      RegisteredState<N, V> registered, StateDescriptor<?, V> descriptor) {
    return switch (descriptor.getType()) {
      case VALUE -> new FasterValueState<>(context, registered, descriptor);
      case REDUCING -> new FasterReducingState<>(context, registered, descriptor);
      case AGGREGATING -> new FasterAggregatingState<>(context, registered, descriptor);
      case LIST ->
          (AbstractFasterState<K, N, V>)
              new FasterListState<>(context, (RegisteredState<N, List<Object>>) registered);
      case MAP ->
          (AbstractFasterState<K, N, V>)
              new FasterMapState<>(context, (RegisteredState<N, Map<Object, Object>>) registered);
      default ->
          throw new FlinkRuntimeException(
              "the type of the state is not supported: state="
                  + descriptor.getName()
                  + ", type="
                  + descriptor.getType());
    };
  }
}
