package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;

/**
 * Iterates over records in the order of their keys, each key once. What the getters return is valid
 * until the next call of {@link #next}; arrays must not be changed. For one thread.
 */
public interface SortedRecords extends Closeable {

  /** Moves to the next record; returns false at the end. */
  boolean next() throws IOException;

  /** The array with the record's key. */
  byte[] keyBytes();

  int keyStart();

  int keyLength();

  /** The array with the record's value. */
  byte[] valueBytes();

  int valueStart();

  /** The value's length, or {@link #DELETED}. */
  int valueLength();

  /** The length that marks a deleted value. */
  int DELETED = -1;

  @Override
  void close();
}
