package io.fasterkv.flink.state;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.ValueLayout;
import io.fasterkv.flink.records.write.StateRecords;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * The base of states that hold one object for a key and namespace. An update overwrites the old
 * value in place if the new one fits.
 *
 * @param <K> type of the keys
 * @param <N> type of the namespaces
 * @param <V> type of the values
 */
abstract class SingleValue<K, N, V> extends AbstractFasterState<K, N, V> {
  private TypeSerializer<V> serializer;

  SingleValue(StateContext<K> context, RegisteredState<N, V> registered) {
    super(context, registered);
    this.serializer = registered.valueSerializer();
  }

  final void updateSerializer() {
    serializer = registered.valueSerializer();
  }

  final TypeSerializer<V> serializer() {
    return serializer;
  }

  final @Nullable V load() throws IOException {
    return load(selected());
  }

  private @Nullable V load(CompositeKey key) throws IOException {
    Bytes read = context.read();
    if (!context.values().get(key, read)) {
      return null;
    }
    int length = read.length() - ValueLayout.TAG_BYTES;
    return serializer.deserialize(context.in(read.array(), ValueLayout.TAG_BYTES, length));
  }

  final void store(V value) throws IOException {
    store(current, value);
  }

  private void store(Supplier<CompositeKey> key, V value) throws IOException {
    DataOutputSerializer out = context.takeOut();
    out.writeByte(ValueLayout.WHOLE);
    serializer.serialize(value, out);
    writes().putValue(key.get(), out.getSharedBuffer(), 0, out.length());
    context.giveScratch(out);
  }

  @Override
  public void clear() {
    writes().removeValue(selected());
  }

  @Override
  Iterator<V> parts(CompositeKey key) {
    try {
      V value = load(key);
      return value == null ? Collections.emptyIterator() : List.of(value).iterator();
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot deserialize a value", cause);
    }
  }

  @Override
  void replacePart(CompositeKey key, V part, @Nullable V left) {
    try {
      if (left == null) {
        writes().removeValue(key);
      } else {
        store(() -> key, left);
      }
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot serialize a value", cause);
    }
  }

  @Override
  byte @Nullable [] readPublished(StateRecords records, CompositeKey key) {
    Bytes read = new Bytes();
    return records.values().get(key, read)
        ? Arrays.copyOfRange(read.array(), ValueLayout.TAG_BYTES, read.length())
        : null;
  }
}
