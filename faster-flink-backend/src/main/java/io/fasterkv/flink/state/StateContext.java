package io.fasterkv.flink.state;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.key.CurrentKey;
import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.ByteLists;
import io.fasterkv.flink.records.ByteMaps;
import io.fasterkv.flink.records.Bytes;
import io.fasterkv.flink.records.StateRecords;
import io.fasterkv.flink.records.StateWrites;
import io.fasterkv.flink.records.Values;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.jspecify.annotations.Nullable;

/**
 * What all states of an operator share: the current key, the ways to the store, and scratch. For
 * the task thread.
 *
 * @param <K> type of the keys
 */
public final class StateContext<K> implements AutoCloseable {
  /**
   * More than most values and batches have: where a buffer never grows, the compiler leaves out
   * what makes it grow, and with it nearly half of the instructions of a loop over elements
   * (decision 0032).
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

  /** Null while somebody has it. */
  private @Nullable DataOutputSerializer out;

  /**
   * Makes the context.
   *
   * @param records the task thread's session, closed with this
   */
  public StateContext(FasterStore store, StateRecords records, KeySpace<K> keys) {
    this.store = store;
    this.keys = keys;
    this.currentKey = new CurrentKey<>(keys.serializer());
    this.records = records;
    this.publishedReads = new PublishedReads<>(store, records.identities(), keys.keyGroups());
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

  /** The task thread's way to the store. */
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

  /** Scratch that takes what is read. */
  Bytes read() {
    return read;
  }

  /**
   * Scratch to serialize into, empty, until {@link #giveOut}. What is serialized may be a view that
   * asks this state or others while it is walked through: they get another one. Who fails may keep
   * it.
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

  /** Takes scratch back. One huge value does not keep it huge. */
  void giveOut(DataOutputSerializer taken) {
    out = taken.getSharedBuffer().length > KEPT_BYTES ? null : taken;
  }

  /** Scratch to deserialize from, set to these bytes. */
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
