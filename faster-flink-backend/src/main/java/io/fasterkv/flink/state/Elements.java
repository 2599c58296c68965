package io.fasterkv.flink.state;

import io.fasterkv.flink.records.Bytes;
import io.fasterkv.flink.records.Chunks;
import java.io.IOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.util.FlinkRuntimeException;

/** The elements of a list, deserialized as they are asked for. For the task thread. */
final class Elements<V> implements Iterable<V> {
  private final Chunks chunks;
  private final TypeSerializer<V> serializer;

  Elements(Chunks chunks, TypeSerializer<V> serializer) {
    this.chunks = chunks;
    this.serializer = serializer;
  }

  @Override
  public Iterator<V> iterator() {
    return new Walk();
  }

  private final class Walk implements Iterator<V> {
    private final Bytes group = new Bytes();
    private final DataInputDeserializer in = new DataInputDeserializer();
    private int next = Chunks.FIRST;

    @Override
    public boolean hasNext() {
      while (in.available() == 0 && next != Chunks.END) {
        next = chunks.readGroup(next, group);
        in.setBuffer(group.array(), 0, group.length());
      }
      return in.available() > 0;
    }

    @Override
    public V next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      try {
        V element = serializer.deserialize(in);
        if (in.available() > 0) {
          in.skipBytesToRead(1);
        }
        return element;
      } catch (IOException cause) {
        throw new FlinkRuntimeException("cannot deserialize an element of a list", cause);
      }
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    String separator = "";
    for (V element : this) {
      text.append(separator).append(element);
      separator = ", ";
    }
    return text.append(']').toString();
  }
}
