package io.fasterkv.flink.records;

import java.util.Arrays;

/**
 * Entries to put into a map together: their bytes lie one behind the other in one array, of each
 * the user key and behind it the value.
 */
public final class EntryBatch {
  private static final int FIRST_ENTRIES = 16;
  private static final byte[] NO_BYTES = {};

  private byte[] bytes = NO_BYTES;
  private int[] keyEnds = new int[FIRST_ENTRIES];
  private int[] ends = new int[FIRST_ENTRIES];
  private int count;

  /** Becomes empty. */
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

  /** Says where the bytes of all entries are. */
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

  /** Bytes of an entry in a block. */
  int entryBytes(int entry) {
    return EntryCursor.entryBytes(keyLength(entry), valueLength(entry));
  }
}
