package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.state.RegisteredState;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.jspecify.annotations.Nullable;

/**
 * How one state is written to a snapshot: fixed when the snapshot starts, used when it is written.
 *
 * @param type what kind of state it is
 * @param ambiguous whether keys need lengths between their parts
 * @param filter drops or changes serialized values: single ones, lists, or map values
 */
record StateExport(
    StateDescriptor.Type type,
    boolean ambiguous,
    @Nullable StateSnapshotTransformer<byte[]> filter) {

  static StateExport of(RegisteredState<?, ?> state, KeySpace<?> keys) {
    return new StateExport(
        state.type(), keys.ambiguousWith(state.namespaceSerializer()), filterOf(state));
  }

  private static @Nullable StateSnapshotTransformer<byte[]> filterOf(RegisteredState<?, ?> state) {
    return switch (state.type()) {
      case LIST ->
          state
              .filter()
              .createForDeserializedState()
              .map(filter -> listFilter(filter, (ListSerializer<?>) state.valueSerializer()))
              .orElse(null);
      case MAP ->
          state
              .filter()
              .createForSerializedState()
              .<StateSnapshotTransformer<byte[]>>map(MapValueFilter::new)
              .orElse(null);
      default -> state.filter().createForSerializedState().orElse(null);
    };
  }

  @SuppressWarnings("unchecked")
  private static <T> StateSnapshotTransformer<byte[]> listFilter(
      StateSnapshotTransformer<?> filter, ListSerializer<T> serializer) {
    return new ListFilter<>(
        (StateSnapshotTransformer<T>) filter, serializer.getElementSerializer().duplicate());
  }
}
