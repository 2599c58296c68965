package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.state.Registered;
import io.fasterkv.flink.state.RegisteredQueue;
import io.fasterkv.flink.state.RegisteredState;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.jspecify.annotations.Nullable;

/**
 * How to write one state to a snapshot: fixed when the snapshot starts, used when it is written.
 *
 * @param name name of the state
 * @param shape its shape in records
 * @param ambiguous whether keys need lengths between their parts
 * @param isTimed whether parts of its values may have expired
 * @param filter drops or changes serialized values: single ones, lists, or map values
 */
record StateExport(
    String name,
    Shape shape,
    boolean ambiguous,
    boolean isTimed,
    @Nullable StateSnapshotTransformer<byte[]> filter) {

  /** The shape of a state in records, as the layouts of the package {@code records} draw it. */
  enum Shape {
    SINGLE,
    LIST,
    MAP,
    /** A timer queue: ordered sets. */
    QUEUE
  }

  static StateExport of(Registered state, KeySpace<?> keys, ValueIncarnations incarnations) {
    return switch (state) {
      case RegisteredState<?, ?> values -> of(values, keys, incarnations, filterOf(values));
      case RegisteredQueue<?> queue ->
          new StateExport(queue.name(), Shape.QUEUE, false, false, null);
    };
  }

  /** The export of a state of which nothing is dropped or changed. */
  static StateExport whole(
      RegisteredState<?, ?> state, KeySpace<?> keys, ValueIncarnations incarnations) {
    return of(state, keys, incarnations, null);
  }

  private static StateExport of(
      RegisteredState<?, ?> state,
      KeySpace<?> keys,
      ValueIncarnations incarnations,
      @Nullable StateSnapshotTransformer<byte[]> filter) {
    Shape shape =
        switch (state.type()) {
          case LIST -> Shape.LIST;
          case MAP -> Shape.MAP;
          default -> Shape.SINGLE;
        };
    return new StateExport(
        state.name(),
        shape,
        keys.ambiguousWith(state.namespaceSerializer()),
        incarnations.isTimed(state.id()),
        filter);
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
