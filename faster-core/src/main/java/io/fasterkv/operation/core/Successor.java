package io.fasterkv.operation.core;

import java.lang.foreign.MemorySegment;

/** Creates a new record's value from an old one's. */
public interface Successor<I, O, C> {

  /** Length of the value of a record's successor; an estimate while other threads change it. */
  int copyBytes(Operation<I, O, C> op, MemorySegment memory, long record);

  /**
   * Writes the successor of a record that has not changed since its size was computed, into a
   * record of that size.
   */
  void writeCopy(
      Operation<I, O, C> op, MemorySegment memory, long record, MemorySegment to, long newRecord);

  /**
   * Writes the successor of a record that no thread changes now, but that may have changed since
   * its size was computed; returns false if it needs more room.
   */
  boolean updateCopy(
      Operation<I, O, C> op, MemorySegment memory, long record, MemorySegment to, long newRecord);
}
