package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;

/**
 * One read-modify-write of a record. Its only lasting effects are on the span it is given and on
 * its own fields, which the last call decides, since a call may be repeated.
 */
interface RecordEdit {

  /** Whether it makes a record where there was none. */
  default boolean makesFirst() {
    return true;
  }

  /** How many bytes to allocate where there was no record. */
  int initialBytes();

  /** Writes the first value. */
  void initial(ByteSpan value);

  /** Changes the value where it lies; false, with nothing changed, if it does not fit. */
  boolean inPlace(ByteSpan value);

  /** Whether it changes a value that may not be changed where it lies. */
  default boolean makesSuccessor(ByteSpan oldValue) {
    return true;
  }

  /** How many bytes to allocate for the successor. */
  int copyBytes(ByteSpan oldValue);

  /** Writes the successor. */
  void copy(ByteSpan oldValue, ByteSpan newValue);
}
