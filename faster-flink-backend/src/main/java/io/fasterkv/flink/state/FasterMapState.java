package io.fasterkv.flink.state;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.map.EntryBatch;
import io.fasterkv.flink.records.map.MapCursor;
import io.fasterkv.flink.records.write.StateRecords;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * Implements map state. The cost of an operation on one user key, and of {@link #isEmpty}, does not
 * depend on the map's size. Iteration goes bucket by bucket and supports removal. User keys are
 * equal if their serialized forms are equal; values may be null. For the task thread.
 */
final class FasterMapState<K, N, UK, UV> extends AbstractFasterState<K, N, Map<UK, UV>>
    implements InternalMapState<K, N, UK, UV> {
  /** Size up to which the entries of one addition are written together. */
  private static final int BATCH_BYTES = 1 << 10;

  /** Number of entries in each part that a visitor receives. */
  private static final int PART_ENTRIES = 128;

  /** Null while in use. */
  private @Nullable EntryBatch spareBatch;

  private TypeSerializer<UK> keySerializer;
  private TypeSerializer<UV> valueSerializer;

  FasterMapState(StateContext<K> context, RegisteredState<N, Map<UK, UV>> registered) {
    super(context, registered);
    this.keySerializer = mapSerializer().getKeySerializer();
    this.valueSerializer = mapSerializer().getValueSerializer();
  }

  private MapSerializer<UK, UV> mapSerializer() {
    return (MapSerializer<UK, UV>) registered.valueSerializer();
  }

  @Override
  void update(StateDescriptor<?, Map<UK, UV>> descriptor) {
    keySerializer = mapSerializer().getKeySerializer();
    valueSerializer = mapSerializer().getValueSerializer();
  }

  @Override
  public @Nullable UV get(UK userKey) throws IOException {
    Bytes read = context.read();
    DataOutputSerializer out = context.takeOut();
    keySerializer.serialize(userKey, out);
    boolean isPresent =
        context.maps().get(selected(), out.getSharedBuffer(), 0, out.length(), read);
    context.giveScratch(out);
    return isPresent ? readValue(read.array(), 0, read.length()) : null;
  }

  @Override
  public boolean contains(UK userKey) throws IOException {
    DataOutputSerializer out = context.takeOut();
    keySerializer.serialize(userKey, out);
    boolean isPresent =
        context.maps().contains(selected(), out.getSharedBuffer(), 0, out.length(), context.read());
    context.giveScratch(out);
    return isPresent;
  }

  @Override
  public void put(UK userKey, @Nullable UV userValue) throws IOException {
    DataOutputSerializer out = context.takeOut();
    int keyLength = serialize(userKey, userValue, out);
    writes().putEntry(selected(), out.getSharedBuffer(), 0, keyLength, out.length() - keyLength);
    context.giveScratch(out);
  }

  @Override
  public void putAll(@Nullable Map<UK, UV> map) throws IOException {
    if (map == null || map.isEmpty()) {
      return;
    }
    DataOutputSerializer out = context.takeOut();
    EntryBatch batch = spareBatch == null ? new EntryBatch() : spareBatch;
    spareBatch = null;
    for (Map.Entry<UK, UV> entry : map.entrySet()) {
      batch.add(serialize(entry.getKey(), entry.getValue(), out), out.length());
      if (out.length() >= BATCH_BYTES) {
        putBatch(batch, out);
      }
    }
    putBatch(batch, out);
    spareBatch = batch;
    context.giveScratch(out);
  }

  private void putBatch(EntryBatch batch, DataOutputSerializer entries) {
    context.maps().putAll(selected(), batch.in(entries.getSharedBuffer()));
    batch.clear();
    entries.clear();
  }

  /** Writes a user key and its value; returns the end of the user key. */
  private int serialize(UK userKey, @Nullable UV userValue, DataOutputSerializer out)
      throws IOException {
    keySerializer.serialize(userKey, out);
    int keyEnd = out.length();
    serializeValue(userValue, out);
    return keyEnd;
  }

  private void serializeValue(@Nullable UV userValue, DataOutputSerializer out) throws IOException {
    out.writeBoolean(userValue == null);
    if (userValue != null) {
      valueSerializer.serialize(userValue, out);
    }
  }

  @Override
  public void remove(UK userKey) throws IOException {
    remove(current, userKey);
  }

  private void remove(Supplier<CompositeKey> key, UK userKey) throws IOException {
    DataOutputSerializer out = context.takeOut();
    keySerializer.serialize(userKey, out);
    writes().removeEntry(key.get(), out.getSharedBuffer(), 0, out.length());
    context.giveScratch(out);
  }

  @Override
  public boolean isEmpty() {
    return context.maps().isEmpty(selected());
  }

  @Override
  public void clear() {
    writes().clearMap(selected());
  }

  @Override
  public Iterator<Map.Entry<UK, UV>> iterator() {
    return walk(selected(), entry -> entry);
  }

  @Override
  public Iterable<Map.Entry<UK, UV>> entries() {
    CompositeKey key = copyOfSelected();
    return () -> walk(key, entry -> entry);
  }

  @Override
  public Iterable<UK> keys() {
    CompositeKey key = copyOfSelected();
    return () -> walk(key, Entry::getKey);
  }

  @Override
  public Iterable<UV> values() {
    CompositeKey key = copyOfSelected();
    return () -> walk(key, Entry::getValue);
  }

  private <T> Iterator<T> walk(CompositeKey key, Function<Entry, T> view) {
    MapCursor cursor = context.maps().entries(key);
    return cursor == null ? Collections.emptyIterator() : new Walk<>(cursor, view);
  }

  private @Nullable UV readValue(byte[] bytes, int offset, int length) throws IOException {
    DataInputDeserializer in = context.in(bytes, offset, length);
    return in.readBoolean() ? null : valueSerializer.deserialize(in);
  }

  /** Iterates over the entries and returns one view of each. */
  private final class Walk<T> implements Iterator<T> {
    private final MapCursor cursor;
    private final Function<Entry, T> view;
    private @Nullable Entry ahead;
    private @Nullable Entry current;

    Walk(MapCursor cursor, Function<Entry, T> view) {
      this.cursor = cursor;
      this.view = view;
    }

    @Override
    public boolean hasNext() {
      if (ahead == null) {
        context.settle();
        ahead = cursor.next() ? new Entry(cursor) : null;
      }
      return ahead != null;
    }

    @Override
    public T next() {
      Entry entry = hasNext() ? ahead : null;
      if (entry == null) {
        throw new NoSuchElementException();
      }
      ahead = null;
      current = entry;
      return view.apply(entry);
    }

    @Override
    public void remove() {
      if (current == null) {
        throw new IllegalStateException("there is no entry to remove: call next first");
      }
      current.remove();
      current = null;
    }
  }

  /** An entry that deserializes its user key and value on access. */
  private final class Entry implements Map.Entry<UK, UV> {
    private final MapCursor cursor;
    private final byte[] bytes;
    private final int keyAt;
    private final int keyLength;
    private final int valueLength;
    private @Nullable UK userKey;
    private @Nullable UV userValue;
    private boolean valueRead;
    private boolean removed;

    Entry(MapCursor cursor) {
      this.cursor = cursor;
      this.bytes = cursor.bytes();
      this.keyAt = cursor.keyAt();
      this.keyLength = cursor.keyLength();
      this.valueLength = cursor.valueLength();
    }

    @Override
    public UK getKey() {
      UK read = userKey;
      if (read == null) {
        try {
          read = keySerializer.deserialize(context.in(bytes, keyAt, keyLength));
        } catch (IOException cause) {
          throw new FlinkRuntimeException("cannot deserialize a user key of a map", cause);
        }
        userKey = read;
      }
      return read;
    }

    @Override
    public @Nullable UV getValue() {
      if (removed) {
        return null;
      }
      if (!valueRead) {
        try {
          userValue = readValue(bytes, keyAt + keyLength, valueLength);
        } catch (IOException cause) {
          throw new FlinkRuntimeException("cannot deserialize a value of a map", cause);
        }
        valueRead = true;
      }
      return userValue;
    }

    @Override
    public @Nullable UV setValue(@Nullable UV value) {
      if (removed) {
        throw new IllegalStateException("the entry has been removed: userKey=" + getKey());
      }
      UV old = getValue();
      try {
        DataOutputSerializer out = context.takeOut();
        // Keep the same bytes: an equal user key may be serialized differently.
        out.write(bytes, keyAt, keyLength);
        serializeValue(value, out);
        context
            .maps()
            .put(cursor.key(), out.getSharedBuffer(), keyLength, out.length() - keyLength);
        context.giveScratch(out);
      } catch (IOException cause) {
        throw new FlinkRuntimeException("cannot serialize a value of a map", cause);
      }
      userValue = value;
      return old;
    }

    void remove() {
      removed = true;
      context.maps().remove(cursor.key(), bytes, keyAt, keyLength);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Map.Entry<?, ?> entry
          && Objects.equals(getKey(), entry.getKey())
          && Objects.equals(getValue(), entry.getValue());
    }

    @Override
    public int hashCode() {
      return Objects.hashCode(getKey()) ^ Objects.hashCode(getValue());
    }

    @Override
    public String toString() {
      return getKey() + "=" + getValue();
    }
  }

  @Override
  Iterator<Map<UK, UV>> parts(CompositeKey key) {
    Iterator<Map.Entry<UK, UV>> entries = walk(key, entry -> entry);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return entries.hasNext();
      }

      @Override
      public Map<UK, UV> next() {
        Map<UK, UV> part = new HashMap<>();
        while (part.size() < PART_ENTRIES && entries.hasNext()) {
          Map.Entry<UK, UV> entry = entries.next();
          part.put(entry.getKey(), entry.getValue());
        }
        return part;
      }
    };
  }

  @Override
  void replacePart(CompositeKey key, Map<UK, UV> part, @Nullable Map<UK, UV> left) {
    try {
      for (UK userKey : part.keySet()) {
        if (left == null || !left.containsKey(userKey)) {
          remove(() -> key, userKey);
        }
      }
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot serialize a user key of a map", cause);
    }
  }

  @Override
  byte @Nullable [] readPublished(StateRecords records, CompositeKey key) {
    MapCursor cursor = records.maps().entries(key);
    if (cursor == null) {
      return null;
    }
    Bytes all = new Bytes();
    while (cursor.next()) {
      all.append(cursor.bytes(), cursor.keyAt(), cursor.keyLength() + cursor.valueLength());
    }
    cursor.checkSame();
    return Arrays.copyOf(all.array(), all.length());
  }
}
