package io.fasterkv.flink.state;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.runtime.state.internal.InternalMergingState;
import org.jspecify.annotations.Nullable;

/**
 * The base of states whose values are combined, by adding to them and when namespaces merge.
 *
 * @param <K> type of the keys
 * @param <N> type of the namespaces
 * @param <T> type of what is added
 * @param <V> type of the values
 * @param <R> type of what is read
 */
abstract class MergingValue<K, N, T, V, R> extends SingleValue<K, N, V>
    implements InternalMergingState<K, N, T, V, R> {

  MergingValue(StateContext<K> context, RegisteredState<N, V> registered) {
    super(context, registered);
  }

  /** Combines two values; may change and return the first. */
  abstract V merge(V first, V second) throws Exception;

  @Override
  public @Nullable V getInternal() throws IOException {
    return load();
  }

  @Override
  public void updateInternal(@Nullable V value) throws IOException {
    if (value == null) {
      clear();
    } else {
      store(value);
    }
  }

  @Override
  public void mergeNamespaces(N target, @Nullable Collection<N> sources) throws Exception {
    if (sources == null || sources.isEmpty()) {
      return;
    }
    V merged = null;
    for (N source : sources) {
      setCurrentNamespace(source);
      V value = load();
      if (value != null) {
        clear();
        merged = merged == null ? value : merge(merged, value);
      }
    }
    setCurrentNamespace(target);
    if (merged != null) {
      V value = load();
      store(value == null ? merged : merge(value, merged));
    }
  }
}
