package io.fasterkv.operation;

import java.lang.foreign.MemorySegment;

/** Makes a new record's value out of an old one's. */
interface Successor<I, O, C> {

  /** Bytes of value that the successor of a record needs; a guess while others change it. */
  int copyBytes(Operation<I, O, C> op, MemorySegment memory, long record);

  /**
   * Writes the successor of a record that has not been changed since its size was asked for, into
   * one of that size.
   */
  void writeCopy(
      Operation<I, O, C> op, MemorySegment memory, long record, MemorySegment to, long newRecord);

  /**
   * Writes the successor of a record that nobody changes, but may have been changed since its size
   * was asked for; false if it needs more room.
   */
  boolean updateCopy(
      Operation<I, O, C> op, MemorySegment memory, long record, MemorySegment to, long newRecord);
}
