package io.fasterkv.operation.core;

import io.fasterkv.operation.version.SessionCounters;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Reads, writes and changes the values of one kind of record: the bridge between an operation and
 * the user's functions. {@code memory} and {@code record} locate a record in the log or in a
 * buffer.
 */
public interface ValueAccess<I, O, C> extends Successor<I, O, C> {

  /** The result of an update in place. */
  enum InPlace {
    DONE,
    /** The record was deleted or replaced in the meantime. */
    FROZEN,
    /** The new value does not fit the record. */
    NO_ROOM
  }

  /** Reads a record that no thread changes. */
  void readStable(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Reads a record that other threads may be changing. */
  void readConcurrent(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Length of the value of an upsert's new record. */
  int upsertBytes(Operation<I, O, C> op);

  /** Writes an upsert's value into a record that no other thread sees. */
  void writeNew(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Writes an upsert's value in place. */
  InPlace writeInPlace(Operation<I, O, C> op, MemorySegment memory, long record);

  /** The result of {@link #successorBytes} for a value that does not change. */
  int STAYS = -1;

  /**
   * Length of the value with which an RMW replaces an immutable one, or {@link #STAYS}. Unlike
   * {@link #copyBytes} it does not copy the old value.
   */
  int successorBytes(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Whether an RMW creates a value if there is none. */
  boolean makesFirst(Operation<I, O, C> op);

  /** Length of the value of an RMW's first record. */
  int initialBytes(Operation<I, O, C> op);

  /** Writes an RMW's first value into a record that no other thread sees. */
  void updateInitial(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Changes a value in place. */
  InPlace updateInPlace(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Whether an RMW may append or change a delta; called in stores that merge. */
  boolean mergesBlindly(Operation<I, O, C> op);

  /** Changes a delta in place. */
  InPlace updateDelta(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Whether the functions have callbacks for deletes. */
  default boolean observesDeletes() {
    return false;
  }

  /** Calls back for the delete of a record that is held. */
  default void deleteInPlace(Operation<I, O, C> op, MemorySegment memory, long record) {}

  /** Calls back for a delete that has not read the value. */
  default void deleteUnseen(Operation<I, O, C> op) {}

  /** The functions for values that do not fit a page; null if there are none. */
  @Nullable LargeFunctions<I, O, C> large();

  /** Creates a session's fast path for new operations; null if there is none, or none yet. */
  @Nullable SpanPath<I, O, C> path(SessionCounters.Stripe counters);

  /** Reports the end of a pending operation to the user. */
  void completed(Operation<I, O, C> op);
}
