package io.fasterkv.flink.state;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.key.CurrentKey;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.base.Values;
import io.fasterkv.flink.records.list.ByteLists;
import io.fasterkv.flink.records.map.ByteMaps;
import io.fasterkv.flink.records.write.StateRecords;
import io.fasterkv.flink.records.write.StateWrites;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.jspecify.annotations.Nullable;

/**
 * What all states of an operator share: the current key, access to the store, and scratch buffers.
 * For the task thread.
 *
 * @param <K> type of the keys
 */
public final class StateContext<K> implements AutoCloseable {
  /**
   * More than most values and batches need. If a buffer never grows, the compiler omits the code
   * that grows it, which is nearly half the instructions of a loop over elements (decision 0032).
   */
  private static final int FIRST_BYTES = 4 << 10;

  private static final int KEPT_BYTES = 1 << 20;

  private final FasterStore store;
  private final KeySpace<K> keys;
  private final CurrentKey<K> currentKey;
  private final StateRecords records;
  private final PublishedReads<K> publishedReads;

  private final Bytes read = new Bytes();
  private final DataInputDeserializer in = new DataInputDeserializer();

  /** Null while in use. */
  private @Nullable DataOutputSerializer out;

  /**
   * @param records the task thread's session, closed with this context
   */
  public StateContext(FasterStore store, StateRecords records, KeySpace<K> keys) {
    this.store = store;
    this.keys = keys;
    this.currentKey = new CurrentKey<>(keys.serializer());
    this.records = records;
    this.publishedReads = new PublishedReads<>(store, records.incarnations(), keys.keyGroups());
  }

  FasterStore store() {
    return store;
  }

  TypeSerializer<K> keySerializer() {
    return keys.serializer();
  }

  public CurrentKey<K> currentKey() {
    return currentKey;
  }

  /** The task thread's session. */
  public StateRecords records() {
    return records;
  }

  Values values() {
    return records.values();
  }

  ByteLists lists() {
    return records.lists();
  }

  ByteMaps maps() {
    return records.maps();
  }

  /** See {@link StateRecords#writes}. */
  StateWrites writes() {
    return records.writes();
  }

  /** See {@link StateRecords#writesAtOnce}. */
  StateWrites writesAtOnce() {
    return records.writesAtOnce();
  }

  /** See {@link StateRecords#settleOwn}. */
  void settleOwn() {
    records.settleOwn();
  }

  /** See {@link StateRecords#settle}. */
  public void settle() {
    records.settle();
  }

  /** Reads of published state by other threads. */
  PublishedReads<K> publishedReads() {
    return publishedReads;
  }

  /** A scratch buffer to read into. */
  Bytes read() {
    return read;
  }

  /**
   * Takes an empty scratch buffer to serialize into, until {@link #giveScratch}. If serialization
   * itself accesses this or another state, that access gets a buffer of its own. A caller that
   * fails need not return it.
   */
  DataOutputSerializer takeOut() {
    DataOutputSerializer taken = out;
    out = null;
    if (taken == null) {
      return new DataOutputSerializer(FIRST_BYTES);
    }
    taken.clear();
    return taken;
  }

  /** Returns a scratch buffer; drops it if one huge value has made it huge. */
  void giveScratch(DataOutputSerializer taken) {
    out = taken.getSharedBuffer().length > KEPT_BYTES ? null : taken;
  }

  /** A scratch input to deserialize these bytes from. */
  DataInputDeserializer in(byte[] bytes, int offset, int length) {
    in.setBuffer(bytes, offset, length);
    return in;
  }

  @Override
  public void close() {
    publishedReads.close();
    records.close();
  }
}
