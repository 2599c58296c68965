package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.base.Bytes;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * Serializes the elements of one queue into buffers that are reused. For one thread.
 *
 * @param <T> type of the elements
 */
final class ElementBytes<T> {
  private static final int FIRST_BYTES = 64;
  private static final int KEPT_BYTES = 1 << 20;

  private TypeSerializer<T> serializer;
  private DataOutputSerializer out = new DataOutputSerializer(FIRST_BYTES);
  private final DataInputDeserializer in = new DataInputDeserializer();
  private final Bytes scratch = new Bytes();

  ElementBytes(TypeSerializer<T> serializer) {
    this.serializer = serializer;
  }

  TypeSerializer<T> serializer() {
    return serializer;
  }

  void setSerializer(TypeSerializer<T> other) {
    serializer = other;
  }

  /** Serializes an element; the bytes are valid until the next call. */
  void write(T element) {
    try {
      if (out.length() > KEPT_BYTES) {
        out = new DataOutputSerializer(FIRST_BYTES);
      }
      out.clear();
      serializer.serialize(element, out);
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot serialize a timer: timer=" + element, cause);
    }
  }

  /** The written bytes, from 0 to {@link #length}. */
  byte[] array() {
    return out.getSharedBuffer();
  }

  int length() {
    return out.length();
  }

  /** A buffer for an element that is deserialized at once. */
  Bytes scratch() {
    return scratch;
  }

  T read(Bytes element) {
    try {
      in.setBuffer(element.array(), 0, element.length());
      return serializer.deserialize(in);
    } catch (IOException cause) {
      throw new FlinkRuntimeException(
          "cannot deserialize a timer: bytes=" + element.length() + ", serializer=" + serializer,
          cause);
    }
  }
}
