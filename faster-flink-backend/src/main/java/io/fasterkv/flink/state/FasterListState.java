package io.fasterkv.flink.state;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.list.ListLayout;
import io.fasterkv.flink.records.list.ListSnapshot;
import io.fasterkv.flink.records.write.StateRecords;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.internal.InternalListState;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.Preconditions;
import org.jspecify.annotations.Nullable;

/**
 * Implements list state. The cost of adding does not depend on the list's length. What {@link #get}
 * returns reads a long list piece by piece, as it was at the time of the call. For the task thread.
 */
final class FasterListState<K, N, V> extends AbstractFasterState<K, N, List<V>>
    implements InternalListState<K, N, V> {
  /** Size up to which the elements of one addition are written together. */
  private static final int BATCH_BYTES = 2 << 10;

  private TypeSerializer<V> elementSerializer;

  /** Null while in use. */
  private @Nullable ListBatches spareBatches;

  FasterListState(StateContext<K> context, RegisteredState<N, List<V>> registered) {
    super(context, registered);
    this.elementSerializer = elementSerializer(registered);
  }

  private static <N, V> TypeSerializer<V> elementSerializer(RegisteredState<N, List<V>> state) {
    return ((ListSerializer<V>) state.valueSerializer()).getElementSerializer();
  }

  @Override
  void update(StateDescriptor<?, List<V>> descriptor) {
    elementSerializer = elementSerializer(registered);
  }

  @Override
  public @Nullable Iterable<V> get() {
    ListSnapshot chunks = context.lists().read(selected());
    return chunks == null ? null : new Elements<>(chunks, elementSerializer);
  }

  @Override
  public @Nullable List<V> getInternal() {
    ListSnapshot chunks = context.lists().read(selected());
    return chunks == null ? null : elements(chunks);
  }

  private List<V> elements(ListSnapshot chunks) {
    List<V> elements = new ArrayList<>();
    new Elements<>(chunks, elementSerializer).forEach(elements::add);
    return elements;
  }

  /** The whole list as one part; nothing for a long list, whose chunks compaction drops. */
  @Override
  Iterator<List<V>> parts(CompositeKey key) {
    ListSnapshot chunks = context.lists().read(key);
    return chunks == null || !chunks.areFew()
        ? Collections.emptyIterator()
        : List.of(elements(chunks)).iterator();
  }

  @Override
  void replacePart(CompositeKey key, List<V> part, @Nullable List<V> left) {
    try {
      if (left == null || left.isEmpty()) {
        writes().removeList(key);
      } else {
        write(() -> key, left, true);
      }
    } catch (IOException cause) {
      throw new FlinkRuntimeException("cannot serialize a list", cause);
    }
  }

  @Override
  public void add(V value) throws IOException {
    DataOutputSerializer out = context.takeOut();
    writeOne(current, value, false, out);
    context.giveScratch(out);
  }

  @Override
  public void addAll(List<V> values) throws IOException {
    checkList(values);
    write(values, false);
  }

  @Override
  public void update(List<V> values) throws IOException {
    updateInternal(values);
  }

  @Override
  public void updateInternal(List<V> values) throws IOException {
    checkList(values);
    if (values.isEmpty()) {
      clear();
    } else {
      write(values, true);
    }
  }

  private static void checkList(List<?> values) {
    Preconditions.checkNotNull(values, "List of values to add cannot be null.");
  }

  /** Appends elements or replaces the list by them. */
  private void write(List<V> values, boolean isWhole) throws IOException {
    write(current, values, isWhole);
  }

  private void write(Supplier<CompositeKey> key, List<V> values, boolean isWhole)
      throws IOException {
    DataOutputSerializer out = context.takeOut();
    if (values.size() == 1) {
      // Handled apart: otherwise the compiler would optimize the loop for lists of one element.
      writeOne(key, values.getFirst(), isWhole, out);
      context.giveScratch(out);
      return;
    }
    ListBatches batches = takeBatches();
    batches.write(values, isWhole, elementSerializer, out, writes(), key);
    spareBatches = batches;
    context.giveScratch(out);
  }

  private void writeOne(
      Supplier<CompositeKey> key, V value, boolean isWhole, DataOutputSerializer out)
      throws IOException {
    ListBatches.checkElement(value);
    elementSerializer.serialize(value, out);
    if (isWhole) {
      writes().setList(key.get(), out.getSharedBuffer(), 0, out.length());
    } else {
      writes().append(key.get(), out.getSharedBuffer(), 0, out.length());
    }
  }

  private ListBatches takeBatches() {
    ListBatches taken = spareBatches;
    spareBatches = null;
    return taken == null
        ? new ListBatches(Math.min(BATCH_BYTES, context.lists().mostBytesTogether()))
        : taken;
  }

  @Override
  public void clear() {
    writes().removeList(selected());
  }

  @Override
  public void mergeNamespaces(N target, @Nullable Collection<N> sources) {
    if (sources == null || sources.isEmpty()) {
      return;
    }
    setCurrentNamespace(target);
    CompositeKey into = copyOfSelected();
    byte[] targetPrefix = into.copyOfPrefix();
    for (N source : sources) {
      setCurrentNamespace(source);
      CompositeKey from = copyOfSelected();
      if (!from.hasPrefix(targetPrefix)) {
        context.lists().move(from, into);
      }
    }
    setCurrentNamespace(target);
  }

  @Override
  byte @Nullable [] readPublished(StateRecords records, CompositeKey key) {
    ListSnapshot chunks = records.lists().read(key);
    if (chunks == null) {
      return null;
    }
    Bytes all = new Bytes();
    Bytes group = new Bytes();
    for (int next = ListSnapshot.FIRST; next != ListSnapshot.END; ) {
      next = chunks.readGroup(next, group);
      if (all.length() > 0) {
        all.append(ListLayout.SEPARATOR);
      }
      all.append(group.array(), 0, group.length());
    }
    return Arrays.copyOf(all.array(), all.length());
  }
}
