package io.fasterkv.flink.records.map;

import java.util.Arrays;

/**
 * A batch of entries to put into a map. Their bytes are consecutive in one array, each with its
 * user key before its value.
 */
public final class EntryBatch {
  private static final int FIRST_ENTRIES = 16;
  private static final byte[] NO_BYTES = {};

  private byte[] bytes = NO_BYTES;
  private int[] keyEnds = new int[FIRST_ENTRIES];
  private int[] ends = new int[FIRST_ENTRIES];
  private int count;

  /** Removes all entries. */
  public void clear() {
    count = 0;
    bytes = NO_BYTES;
  }

  /** Adds an entry that begins where the last one ends. */
  public void add(int keyEnd, int end) {
    if (count == ends.length) {
      keyEnds = Arrays.copyOf(keyEnds, 2 * count);
      ends = Arrays.copyOf(ends, 2 * count);
    }
    keyEnds[count] = keyEnd;
    ends[count] = end;
    count++;
  }

  /** Sets the array with the bytes of all entries. */
  public EntryBatch in(byte[] array) {
    bytes = array;
    return this;
  }

  byte[] bytes() {
    return bytes;
  }

  int count() {
    return count;
  }

  int keyAt(int entry) {
    return entry == 0 ? 0 : ends[entry - 1];
  }

  int valueAt(int entry) {
    return keyEnds[entry];
  }

  int keyLength(int entry) {
    return keyEnds[entry] - keyAt(entry);
  }

  int valueLength(int entry) {
    return ends[entry] - keyEnds[entry];
  }

  /** Bytes that an entry takes in a block. */
  int entryBytes(int entry) {
    return EntryCursor.entryBytes(keyLength(entry), valueLength(entry));
  }
}
