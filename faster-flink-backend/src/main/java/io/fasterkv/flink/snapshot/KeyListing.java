package io.fasterkv.flink.snapshot;

import io.fasterkv.LogCut;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.key.LongKeyLayout;
import io.fasterkv.flink.state.RegisteredState;
import io.fasterkv.flink.state.StateRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.function.FunctionWithException;

/**
 * Lists the keys that have a value at the time of the call; a stream does not show later changes.
 * Each call reads the whole log once. A stream that is not closed leaves only local files, which
 * are deleted with the operator's directory. For the task thread.
 *
 * @param <K> type of the keys
 */
public final class KeyListing<K> {
  private static final ByteSpan NO_VALUE = new ByteSpan();

  private final LocalStore local;
  private final KeySpace<K> keys;

  public KeyListing(LocalStore local, KeySpace<K> keys) {
    this.local = local;
    this.keys = keys;
  }

  /** The keys that have a value in any of the states in one namespace; each key once. */
  public <N> Stream<K> keys(List<RegisteredState<N, ?>> states, N namespace) {
    Map<Integer, byte[]> namespaces = new HashMap<>();
    for (RegisteredState<N, ?> state : states) {
      namespaces.put(state.id(), serialize(namespace, state.namespaceSerializer()));
    }
    try {
      RecordSorter sorter = heads(key -> mayHaveNamespace(key, namespaces));
      Predicate<byte[]> isWanted = record -> hasNamespace(record, namespaces);
      return states.size() > 1
          ? stream(keysAlone(sorter, isWanted), record -> true, this::key)
          : stream(sorter, isWanted, this::key);
    } catch (IOException cause) {
      throw new UncheckedIOException("cannot list the keys of a state", cause);
    }
  }

  /** The keys that have a value in a state, with the namespaces of their values. */
  public <N> Stream<Tuple2<K, N>> keysAndNamespaces(RegisteredState<N, ?> state) {
    TypeSerializer<N> namespaces = state.namespaceSerializer();
    try {
      RecordSorter sorter = heads(key -> CutSort.state(key) == state.id());
      return stream(
          sorter, record -> true, record -> Tuple2.of(key(record), namespace(record, namespaces)));
    } catch (IOException cause) {
      throw new UncheckedIOException("cannot list the keys of a state", cause);
    }
  }

  /** Number of pairs of key and namespace that have a value, over all states. */
  public int count(StateRegistry registry) {
    try (RecordSorter sorter =
            heads(key ->
                !LongKeyLayout.isOfKeyRecord(key)
                    && registry.get(CutSort.state(key)) instanceof RegisteredState);
        SortedRecords records = sorter.sorted()) {
      int count = 0;
      while (records.next()) {
        count++;
      }
      return count;
    } catch (IOException cause) {
      throw new UncheckedIOException("cannot count the entries of the states", cause);
    }
  }

  private RecordSorter heads(CutSort.Choice choice) throws IOException {
    RecordSorter sorter = newSorter();
    try (LogCut cut = local.store().log().cut()) {
      CutSort.sortHeads(local, cut, sorter, choice);
      return sorter;
    } catch (Throwable failure) {
      IOUtils.closeQuietly(sorter);
      throw failure;
    }
  }

  private RecordSorter newSorter() {
    return new RecordSorter(
        local.directory(), local.sortBufferBytes(), new Cancellation(), local.logger());
  }

  /** Sorts again by the keys alone, so that equal keys become one. */
  private RecordSorter keysAlone(RecordSorter perState, Predicate<byte[]> isWanted)
      throws IOException {
    RecordSorter sorter = newSorter();
    try (perState;
        SortedRecords records = new FullKeys(perState.sorted())) {
      while (records.next()) {
        byte[] record = keyBytes(records);
        if (!isWanted.test(record)) {
          continue;
        }
        byte[] key = Arrays.copyOf(record, namespaceAt(record));
        KeyLayout.putState(key, 0);
        sorter.add(ByteSpan.of(Arrays.copyOf(key, key.length + KeyLayout.SUB_BYTES)), NO_VALUE);
      }
      return sorter;
    } catch (Throwable failure) {
      IOUtils.closeQuietly(sorter);
      throw failure;
    }
  }

  /** True for every long key, since its digest does not tell the namespace. */
  private static boolean mayHaveNamespace(ByteSpan key, Map<Integer, byte[]> namespaces) {
    return namespaces.containsKey(CutSort.state(key))
        && (LongKeyLayout.hasDigest(key) || hasNamespace(key.toArray(), namespaces));
  }

  private static boolean hasNamespace(byte[] record, Map<Integer, byte[]> namespaces) {
    byte[] namespace = namespaces.get(KeyLayout.state(record, 0));
    int end = record.length - KeyLayout.SUB_BYTES;
    return namespace != null
        && Arrays.equals(record, namespaceAt(record), end, namespace, 0, namespace.length);
  }

  private static int namespaceAt(byte[] record) {
    return KeyLayout.keyAt(record, 0) + KeyLayout.keyLength(record, 0);
  }

  private static <N> byte[] serialize(N namespace, TypeSerializer<N> serializer) {
    try {
      DataOutputSerializer out = new DataOutputSerializer(16);
      serializer.serialize(namespace, out);
      return out.getCopyOfBuffer();
    } catch (IOException cause) {
      throw new UncheckedIOException("cannot serialize a namespace: namespace=" + namespace, cause);
    }
  }

  private K key(byte[] record) throws IOException {
    return keys.serializer()
        .deserialize(
            new DataInputDeserializer(
                record, KeyLayout.keyAt(record, 0), KeyLayout.keyLength(record, 0)));
  }

  private static <N> N namespace(byte[] record, TypeSerializer<N> serializer) throws IOException {
    int at = namespaceAt(record);
    return serializer.deserialize(
        new DataInputDeserializer(record, at, record.length - KeyLayout.SUB_BYTES - at));
  }

  private static byte[] keyBytes(SortedRecords records) {
    int start = records.keyStart();
    return Arrays.copyOfRange(records.keyBytes(), start, start + records.keyLength());
  }

  private static <T> Stream<T> stream(
      RecordSorter sorter,
      Predicate<byte[]> isWanted,
      FunctionWithException<byte[], T, IOException> view)
      throws IOException {
    SortedRecords records;
    try {
      records = new FullKeys(sorter.sorted());
    } catch (Throwable failure) {
      IOUtils.closeQuietly(sorter);
      throw failure;
    }
    Runnable close = () -> IOUtils.closeAllQuietly(records, sorter);
    Spliterator<T> items =
        new Spliterators.AbstractSpliterator<>(Long.MAX_VALUE, Spliterator.ORDERED) {
          @Override
          public boolean tryAdvance(Consumer<? super T> action) {
            try {
              while (records.next()) {
                byte[] record = keyBytes(records);
                if (isWanted.test(record)) {
                  action.accept(view.apply(record));
                  return true;
                }
              }
              close.run();
              return false;
            } catch (IOException cause) {
              throw new UncheckedIOException("cannot list the keys of a state", cause);
            }
          }
        };
    return StreamSupport.stream(items, false).onClose(close);
  }
}
