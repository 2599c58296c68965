package io.fasterkv.flink.records.base;

import io.fasterkv.api.ByteSpan;

/**
 * One read-modify-write of a record. Since a call may be repeated, it may change only the span it
 * is given and its own fields; the last call decides.
 */
public interface RecordEdit {

  /** Whether the edit creates a record if there is none. */
  default boolean makesFirst() {
    return true;
  }

  /** Number of bytes to allocate if there is no record. */
  int initialBytes();

  /** Writes the first value. */
  void initial(ByteSpan value);

  /** Changes the value in place; returns false, and changes nothing, if it does not fit. */
  boolean inPlace(ByteSpan value);

  /** Whether the edit changes a value that cannot be changed in place. */
  default boolean makesSuccessor(ByteSpan oldValue) {
    return true;
  }

  /** Number of bytes to allocate for the successor. */
  int copyBytes(ByteSpan oldValue);

  /** Writes the successor. */
  void copy(ByteSpan oldValue, ByteSpan newValue);
}
