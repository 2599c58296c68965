package io.fasterkv.flink.state;

import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.list.ListLayout;
import io.fasterkv.flink.records.list.ListSnapshot;
import java.io.IOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/** Reads a list from the store, piece by piece. For the task thread. */
final class StoredElements<V> implements Iterator<V> {
  private final ListSnapshot chunks;
  private final TypeSerializer<V> serializer;
  private final DataInputDeserializer in = new DataInputDeserializer();
  private @Nullable Bytes group;
  private int next = ListSnapshot.FIRST;

  StoredElements(ListSnapshot chunks, TypeSerializer<V> serializer) {
    this.chunks = chunks;
    this.serializer = serializer;
    byte[] whole = chunks.whole();
    if (whole != null) {
      in.setBuffer(whole, ListLayout.TAG_BYTES, whole.length - ListLayout.TAG_BYTES);
      next = ListSnapshot.END;
    }
  }

  @Override
  public boolean hasNext() {
    while (in.available() == 0 && next != ListSnapshot.END) {
      readGroup();
    }
    return in.available() > 0;
  }

  private void readGroup() {
    Bytes read = group;
    if (read == null) {
      read = new Bytes();
      group = read;
    }
    next = chunks.readGroup(next, read);
    in.setBuffer(read.array(), 0, read.length());
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
