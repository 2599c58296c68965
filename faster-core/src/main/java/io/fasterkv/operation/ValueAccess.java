package io.fasterkv.operation;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * How the values of one kind of record are read, written and changed: the bridge between an
 * operation and the user's functions. {@code memory} and {@code record} name a record in the log or
 * in a buffer.
 */
interface ValueAccess<I, O, C> extends Successor<I, O, C> {

  /** How an update in place ended. */
  enum InPlace {
    DONE,
    /** The record was deleted or replaced in the meantime. */
    FROZEN,
    /** The new value does not fit the record. */
    NO_ROOM
  }

  /** Reads a record that nobody changes. */
  void readStable(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Reads a record that others may be changing. */
  void readConcurrent(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Bytes of value that an upsert's new record needs. */
  int upsertBytes(Operation<I, O, C> op);

  /** Writes an upsert's value into a record that nobody else sees. */
  void writeNew(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Writes an upsert's value in place. */
  InPlace writeInPlace(Operation<I, O, C> op, MemorySegment memory, long record);

  /** What {@link #successorBytes} says of a value that stays as it is. */
  int STAYS = -1;

  /**
   * Bytes of the value that an RMW puts in the place of one that nobody may change, or {@link
   * #STAYS}. Unlike {@link #copyBytes} it takes no copy of the old value.
   */
  int successorBytes(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Whether an RMW makes a value where there is none. */
  boolean makesFirst(Operation<I, O, C> op);

  /** Bytes of value that an RMW's first record needs. */
  int initialBytes(Operation<I, O, C> op);

  /** Writes an RMW's first value into a record that nobody else sees. */
  void updateInitial(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Changes a value in place. */
  InPlace updateInPlace(Operation<I, O, C> op, MemorySegment memory, long record);

  /** Whether an RMW may append a delta, or change one; asked in stores that merge. */
  boolean mergesBlindly(Operation<I, O, C> op);

  /** Changes a delta in place. */
  InPlace updateDelta(Operation<I, O, C> op, MemorySegment memory, long record);

  /**
   * Keeps every other updater out of a record that may be changed, until {@link #letGo}; false if
   * it is frozen already.
   */
  boolean hold(Operation<I, O, C> op, MemorySegment memory, long record);

  /**
   * Ends {@link #hold}; {@code infoBits} are set in the record's first word before that. False if
   * another thread has set them already, for values that are not held.
   */
  boolean letGo(Operation<I, O, C> op, MemorySegment memory, long record, long infoBits);

  /**
   * Ends a {@link #hold} that remained because the stack was exhausted; a caller further up the
   * stack calls this before it leaves the epoch.
   */
  default void releaseHeld(MemorySegment memory) {}

  /** The functions for values that do not fit a page; null if there are none. */
  @Nullable LargeFunctions<I, O, C> large();

  /** As this, for another session of the same functions. */
  ValueAccess<I, O, C> another();

  /** The short way of a session with these values, for operations that begin. */
  SpanPath<I, O, C> path(ChainSteps.Stripe steps);

  /** Tells the user that a pending operation has ended. */
  void completed(Operation<I, O, C> op);
}
