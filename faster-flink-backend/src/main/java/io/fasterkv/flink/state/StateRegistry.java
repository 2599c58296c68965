package io.fasterkv.flink.state;

import io.fasterkv.flink.key.KeyLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.jspecify.annotations.Nullable;

/** The states of one operator by name and by number. For the task thread. */
public final class StateRegistry {
  private final List<RegisteredState<?, ?>> byId = new ArrayList<>();
  private final Map<String, RegisteredState<?, ?>> byName = new HashMap<>();

  /** The state of this name, or null. */
  public @Nullable RegisteredState<?, ?> find(String name) {
    return byName.get(name);
  }

  public RegisteredState<?, ?> get(int id) {
    return byId.get(id);
  }

  /** All states in the order of their numbers. */
  public List<RegisteredState<?, ?>> all() {
    return Collections.unmodifiableList(byId);
  }

  /** Gives a new state the next number. */
  public <N, V> RegisteredState<N, V> add(RegisteredKeyValueStateBackendMetaInfo<N, V> metaInfo) {
    if (byId.size() == KeyLayout.MOST_STATES) {
      throw new IllegalStateException(
          "an operator has too many states: state="
              + metaInfo.getName()
              + ", allowed="
              + KeyLayout.MOST_STATES);
    }
    RegisteredState<N, V> state = new RegisteredState<>(byId.size(), metaInfo);
    byId.add(state);
    byName.put(metaInfo.getName(), state);
    return state;
  }
}
