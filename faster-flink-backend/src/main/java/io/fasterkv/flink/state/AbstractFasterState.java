package io.fasterkv.flink.state;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.write.StateRecords;
import io.fasterkv.flink.records.write.StateWrites;
import java.io.IOException;
import java.util.Iterator;
import java.util.function.Supplier;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.Preconditions;
import org.jspecify.annotations.Nullable;

/**
 * The base of all states: their serializers, and access to the records of the current key and
 * namespace. For the task thread, except {@link #getSerializedValue}.
 *
 * @param <K> type of the keys
 * @param <N> type of the namespaces
 * @param <V> type of what the state holds for a key and namespace
 */
abstract class AbstractFasterState<K, N, V> implements InternalKvState<K, N, V> {
  private static final int NAMESPACE_BYTES = 16;
  private static final int UNSET = -1;

  final StateContext<K> context;
  final RegisteredState<N, V> registered;

  /** Called after serialization, since user code that serializes may access other states. */
  final Supplier<CompositeKey> current = this::selected;

  private final DataOutputSerializer namespaceOut = new DataOutputSerializer(NAMESPACE_BYTES);

  /** Bytes of log that visitors have read and that accesses have not paid for yet. */
  long visitDebt;

  /** Whether other threads may read the state; its writes are then not buffered. */
  private boolean isPublished;

  private int namespaceLength = UNSET;
  private @Nullable Object namespace;

  AbstractFasterState(StateContext<K> context, RegisteredState<N, V> registered) {
    this.context = context;
    this.registered = registered;
  }

  /** Lets other threads read the state from now on. */
  final void publish() {
    isPublished = true;
  }

  /** Takes the state's writes. */
  final StateWrites writes() {
    return isPublished ? context.writesAtOnce() : context.writes();
  }

  /** Takes over the serializers and functions of a new registration. */
  abstract void update(StateDescriptor<?, V> descriptor);

  @Override
  public TypeSerializer<K> getKeySerializer() {
    return context.keySerializer();
  }

  @Override
  public TypeSerializer<N> getNamespaceSerializer() {
    return registered.namespaceSerializer();
  }

  @Override
  public TypeSerializer<V> getValueSerializer() {
    return registered.valueSerializer();
  }

  @Override
  public void setCurrentNamespace(N newNamespace) {
    Preconditions.checkNotNull(newNamespace, "the namespace must not be null");
    if (newNamespace == namespace && newNamespace == VoidNamespace.INSTANCE) {
      return;
    }
    try {
      namespaceOut.clear();
      registered.namespaceSerializer().serialize(newNamespace, namespaceOut);
    } catch (IOException cause) {
      throw new FlinkRuntimeException(
          "cannot serialize the namespace: namespace=" + newNamespace, cause);
    }
    namespaceLength = namespaceOut.length();
    namespace = newNamespace;
  }

  /** The record keys of the current key and namespace; valid until the next call. */
  final CompositeKey selected() {
    if (namespaceLength == UNSET) {
      throw new IllegalStateException("no current namespace: state=" + registered.name());
    }
    return context
        .currentKey()
        .select(registered.id(), namespaceOut.getSharedBuffer(), namespaceLength);
  }

  /** A copy of the record keys of the current key and namespace. */
  final CompositeKey copyOfSelected() {
    byte[] prefix = selected().copyOfPrefix();
    return new CompositeKey().setPrefix(prefix, 0, prefix.length);
  }

  @Override
  public byte @Nullable [] getSerializedValue(
      byte[] serializedKeyAndNamespace,
      TypeSerializer<K> safeKeySerializer,
      TypeSerializer<N> safeNamespaceSerializer,
      TypeSerializer<V> safeValueSerializer)
      throws IOException {
    context.settleOwn();
    return context
        .publishedReads()
        .run(
            registered.id(),
            serializedKeyAndNamespace,
            safeKeySerializer,
            safeNamespaceSerializer,
            this::readPublished);
  }

  /** Reads the bytes that a client of published state receives. Called by any thread. */
  abstract byte @Nullable [] readPublished(StateRecords records, CompositeKey key)
      throws IOException;

  /** Returns one entry at a time, in the order of the log. */
  @Override
  public StateIncrementalVisitor<K, N, V> getStateIncrementalVisitor(int recommended) {
    context.settle();
    return new LogVisitor<>(context.store(), this);
  }

  /** Iterates over what the state holds for a key and namespace, in one or more parts. */
  abstract Iterator<V> parts(CompositeKey key);

  /** Replaces a part by what is left of it; removes it if that is null. */
  abstract void replacePart(CompositeKey key, V part, @Nullable V left);

  final K keyOf(CompositeKey key) {
    byte[] bytes = key.copyOfPrefix();
    int at = KeyLayout.keyAt(bytes, 0);
    return deserialize(getKeySerializer(), bytes, at, at + KeyLayout.keyLength(bytes, 0));
  }

  final N namespaceOf(CompositeKey key) {
    byte[] bytes = key.copyOfPrefix();
    int at = KeyLayout.keyAt(bytes, 0) + KeyLayout.keyLength(bytes, 0);
    return deserialize(getNamespaceSerializer(), bytes, at, bytes.length);
  }

  private static <T> T deserialize(TypeSerializer<T> serializer, byte[] bytes, int from, int to) {
    try {
      return serializer.deserialize(new DataInputDeserializer(bytes, from, to - from));
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot deserialize a key or a namespace", cause);
    }
  }
}
