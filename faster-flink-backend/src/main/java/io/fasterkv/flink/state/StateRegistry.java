package io.fasterkv.flink.state;

import io.fasterkv.flink.key.KeyLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.jspecify.annotations.Nullable;

/**
 * The states of one operator and its timer queues in the store, by name and by number. For the task
 * thread.
 */
public final class StateRegistry {
  private final List<Registered> byId = new ArrayList<>();
  private final Map<String, RegisteredState<?, ?>> statesByName = new HashMap<>();
  private final Map<String, RegisteredQueue<?>> queuesByName = new HashMap<>();

  /** The state with this name, or null. */
  public @Nullable RegisteredState<?, ?> find(String name) {
    return statesByName.get(name);
  }

  /** The timer queue with this name, or null. */
  public @Nullable RegisteredQueue<?> findQueue(String name) {
    return queuesByName.get(name);
  }

  public Registered get(int id) {
    return byId.get(id);
  }

  /** All states and queues, ordered by number. */
  public List<Registered> all() {
    return Collections.unmodifiableList(byId);
  }

  /** Adds a state with the next number. */
  public <N, V> RegisteredState<N, V> add(RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo) {
    RegisteredState<N, V> state = new RegisteredState<>(nextId(metaInfo.getName()), metaInfo);
    byId.add(state);
    statesByName.put(metaInfo.getName(), state);
    return state;
  }

  /** Adds a timer queue with the next number. */
  public <T> RegisteredQueue<T> add(RegisteredPriorityQueueStateBackendMetaInfo<T> metaInfo) {
    RegisteredQueue<T> queue = new RegisteredQueue<>(nextId(metaInfo.getName()), metaInfo);
    byId.add(queue);
    queuesByName.put(metaInfo.getName(), queue);
    return queue;
  }

  private int nextId(String name) {
    if (byId.size() == KeyLayout.MOST_STATES) {
      throw new IllegalStateException(
          "an operator has too many states: state=" + name + ", allowed=" + KeyLayout.MOST_STATES);
    }
    return byId.size();
  }
}
