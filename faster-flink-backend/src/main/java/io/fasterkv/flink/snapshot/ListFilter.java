package io.fasterkv.flink.snapshot;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.ListDelimitedSerializer;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.apache.flink.runtime.state.StateSnapshotTransformer.CollectionStateSnapshotTransformer;
import org.apache.flink.runtime.state.StateSnapshotTransformer.CollectionStateSnapshotTransformer.TransformStrategy;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/** Filters the elements of serialized lists; drops a list that loses all elements. */
final class ListFilter<T> implements StateSnapshotTransformer<byte[]> {
  private final StateSnapshotTransformer<T> filter;
  private final TypeSerializer<T> serializer;
  private final boolean keepAllAfterFirst;
  private final ListDelimitedSerializer lists = new ListDelimitedSerializer();
  private final DataInputDeserializer in = new DataInputDeserializer();

  ListFilter(StateSnapshotTransformer<T> filter, TypeSerializer<T> serializer) {
    this.filter = filter;
    this.serializer = serializer;
    this.keepAllAfterFirst =
        filter instanceof CollectionStateSnapshotTransformer<T> collection
            && collection.getFilterStrategy() == TransformStrategy.STOP_ON_FIRST_INCLUDED;
  }

  @Override
  public byte @Nullable [] filterOrTransform(byte @Nullable [] value) {
    if (value == null) {
      return null;
    }
    try {
      return filter(value);
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot filter a list for a snapshot", cause);
    }
  }

  private byte @Nullable [] filter(byte[] value) throws IOException {
    in.setBuffer(value);
    List<T> kept = new ArrayList<>();
    int start = 0;
    T element = ListDelimitedSerializer.deserializeNextElement(in, serializer);
    while (element != null) {
      T filtered = filter.filterOrTransform(element);
      if (filtered != null && keepAllAfterFirst) {
        return Arrays.copyOfRange(value, start, value.length);
      }
      if (filtered != null) {
        kept.add(filtered);
      }
      start = in.getPosition();
      element = ListDelimitedSerializer.deserializeNextElement(in, serializer);
    }
    return kept.isEmpty() ? null : lists.serializeList(kept, serializer);
  }
}
