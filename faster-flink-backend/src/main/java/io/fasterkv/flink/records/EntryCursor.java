package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.Varint;
import java.lang.foreign.MemorySegment;

/**
 * Walks over and edits the entries of one block, a bucket or an inline map, shaped as {@link
 * MapLayout} draws them. Moved from block to block; not safe for use by two threads.
 */
public final class EntryCursor {
  private static final int IN_RUN = 1;
  private static final int MORE = 0x80;
  private static final int LINE_BYTES = 64;
  private static final int STUB_VALUE_BYTES = Integer.BYTES + Long.BYTES;

  /** Length of an entry that stands for a run. */
  static final int STUB_BYTES = 2 + Long.BYTES + STUB_VALUE_BYTES;

  private ByteSpan block = new ByteSpan();
  private int start;
  private int next;
  private boolean inRun;
  private int keyAt;
  private int keyLength;
  private int valueLength;

  /** Written and never read, so that the compiler does not leave the touching out. */
  @SuppressWarnings("UnusedVariable")
  private int touched;

  /** Stands before the entry at {@code from}. */
  public EntryCursor on(ByteSpan entries, int from) {
    block = entries;
    next = from;
    return this;
  }

  /** Steps to the next entry; false at the end. */
  public boolean next() {
    if (next >= block.length()) {
      return false;
    }
    start = next;
    int head = readVarint();
    valueLength = readVarint();
    inRun = (head & IN_RUN) != 0;
    keyLength = head >>> 1;
    keyAt = next;
    next = keyAt + keyLength + valueLength;
    return true;
  }

  /** Steps to the next entry that is this key's, or may be: one in a run with the same hash. */
  boolean seek(UserKey key) {
    touchLines();
    while (next()) {
      boolean found =
          inRun ? hashOfRun() == key.hash() : keyLength == key.length() && key.isAt(block, keyAt);
      if (found) {
        return true;
      }
    }
    return false;
  }

  /**
   * Asks for all lines of the block that are ahead, together: where an entry begins is known when
   * the one before it has come.
   */
  private void touchLines() {
    int sum = 0;
    for (int at = next + LINE_BYTES; at < block.length(); at += LINE_BYTES) {
      sum += block.getByte(at);
    }
    touched = sum;
  }

  /** Whether the entry only names a run. */
  public boolean inRun() {
    return inRun;
  }

  /** Where the entry starts in its block. */
  public int start() {
    return start;
  }

  /** Length of the whole entry. */
  public int length() {
    return next - start;
  }

  public int keyAt() {
    return keyAt;
  }

  public int keyLength() {
    return keyLength;
  }

  public int valueAt() {
    return keyAt + keyLength;
  }

  public int valueLength() {
    return valueLength;
  }

  long hashOfRun() {
    return block.getLong(keyAt);
  }

  /** Sub number of the run's first record. */
  public int run() {
    return block.getInt(valueAt());
  }

  /** Where the entry has its stamp in the block, or -1 if its value is too short for one. */
  public int stampAt() {
    int at = valueAt() + (inRun ? Integer.BYTES : MapLayout.STAMP_AT);
    return at + Long.BYTES > valueAt() + valueLength ? -1 : at;
  }

  /** Removes the entry; the cursor then stands before its successor. */
  void remove() {
    int length = length();
    int behind = block.length() - next;
    if (behind > 0) {
      MemorySegment.copy(
          block.memory(), block.offset() + next, block.memory(), block.offset() + start, behind);
    }
    block.setLength(block.length() - length);
    next = start;
  }

  static int entryBytes(int keyLength, int valueLength) {
    return Varint.size(keyLength << 1) + Varint.size(valueLength) + keyLength + valueLength;
  }

  /** Adds an entry at the end of a block, which has room for it. */
  static void append(ByteSpan block, UserKey key, byte[] value, int offset, int length) {
    int at = writeVarint(block, block.length(), key.length() << 1);
    at = writeVarint(block, at, length);
    block.copyFrom(at, key.bytes(), key.offset(), key.length());
    block.copyFrom(at + key.length(), value, offset, length);
    block.setLength(at + key.length() + length);
  }

  /** Adds an entry that names a run. */
  static void appendStub(ByteSpan block, long hash, int run, long stamp) {
    int at = writeVarint(block, block.length(), Long.BYTES << 1 | IN_RUN);
    at = writeVarint(block, at, STUB_VALUE_BYTES);
    block.putLong(at, hash);
    block.putInt(at + Long.BYTES, run);
    block.putLong(at + Long.BYTES + Integer.BYTES, stamp);
    block.setLength(at + Long.BYTES + STUB_VALUE_BYTES);
  }

  /** Adds a copy of the entry to another block, which has room for it. */
  void copyTo(ByteSpan other) {
    int end = other.length();
    MemorySegment.copy(
        block.memory(), block.offset() + start, other.memory(), other.offset() + end, length());
    other.setLength(end + length());
  }

  private int readVarint() {
    int value = block.getByte(next++);
    if (value >= 0) {
      return value;
    }
    value &= MORE - 1;
    for (int shift = 7; ; shift += 7) {
      int more = block.getByte(next++);
      value |= (more & (MORE - 1)) << shift;
      if (more >= 0) {
        return value;
      }
    }
  }

  private static int writeVarint(ByteSpan block, int at, int value) {
    int rest = value;
    int next = at;
    while (rest >= MORE) {
      block.putByte(next++, (byte) (rest | MORE));
      rest >>>= 7;
    }
    block.putByte(next++, (byte) rest);
    return next;
  }
}
