package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;

/**
 * Records in the order of their keys, each key once. What the accessors return is valid until the
 * next call of {@link #next}; arrays must not be changed. For one thread.
 */
public interface SortedRecords extends Closeable {

  /** Steps to the next record; false at the end. */
  boolean next() throws IOException;

  /** The array that holds the record's key. */
  byte[] keyBytes();

  int keyStart();

  int keyLength();

  /** The array that holds the record's value. */
  byte[] valueBytes();

  int valueStart();

  /** The value's length, or {@link #DELETED}. */
  int valueLength();

  /** The length of a value that was deleted. */
  int DELETED = -1;

  @Override
  void close();
}
