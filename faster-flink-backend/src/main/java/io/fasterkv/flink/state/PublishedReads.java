package io.fasterkv.flink.state;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.key.CurrentKey;
import io.fasterkv.flink.records.base.MissingPart;
import io.fasterkv.flink.records.base.ValueIncarnations;
import io.fasterkv.flink.records.write.StateRecords;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.jspecify.annotations.Nullable;

/**
 * Reads published ("queryable") state for threads other than the task's, one at a time, through a
 * session of its own. A read sees each record as it is. Of a value with several records it may see
 * parts from before and after an update by the task. It retries if the value was cleared or
 * replaced meanwhile.
 *
 * @param <K> type of the keys
 */
final class PublishedReads<K> implements AutoCloseable {

  /** Reads one state's bytes for a key and namespace. */
  interface Reading {
    byte @Nullable [] read(StateRecords records, CompositeKey key) throws IOException;
  }

  private static final int MOST_ATTEMPTS = 100;

  private final FasterStore store;
  private final ValueIncarnations incarnations;
  private final int keyGroups;
  private @Nullable StateRecords records;
  private boolean closed;

  PublishedReads(FasterStore store, ValueIncarnations incarnations, int keyGroups) {
    this.store = store;
    this.incarnations = incarnations;
    this.keyGroups = keyGroups;
  }

  /**
   * Runs a reading for a key and namespace as serialized by a client.
   *
   * @return null if there is no value or the operator is closed
   */
  synchronized <N> byte @Nullable [] run(
      int state,
      byte[] keyAndNamespace,
      TypeSerializer<K> keySerializer,
      TypeSerializer<N> namespaceSerializer,
      Reading reading)
      throws IOException {
    if (closed) {
      return null;
    }
    Tuple2<K, N> asked =
        KvStateSerializer.deserializeKeyAndNamespace(
            keyAndNamespace, keySerializer, namespaceSerializer);
    DataOutputSerializer namespace = new DataOutputSerializer(16);
    namespaceSerializer.serialize(asked.f1, namespace);
    CurrentKey<K> key = new CurrentKey<>(keySerializer);
    key.set(asked.f0, KeyGroupRangeAssignment.assignToKeyGroup(asked.f0, keyGroups));
    return read(key.select(state, namespace.getSharedBuffer(), namespace.length()), reading);
  }

  private byte @Nullable [] read(CompositeKey key, Reading reading) throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return reading.read(records(), key);
      } catch (MissingPart changed) {
        if (attempt == MOST_ATTEMPTS) {
          throw new IOException(
              "a value was not read, it changes too fast: attempts=" + attempt + "; ask again",
              changed);
        }
      }
    }
  }

  private StateRecords records() {
    StateRecords opened = records;
    if (opened == null) {
      opened = new StateRecords(store, incarnations, state -> null);
      records = opened;
    }
    return opened;
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (records != null) {
      records.close();
      records = null;
    }
  }
}
