package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.Varint;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Iterates over and edits the entries of one block: a bucket or an inline map, in the shape that
 * {@link MapLayout} draws. It is reused for different blocks. Not safe for use by two threads.
 */
public final class EntryCursor {
  private static final int IN_RUN = 1;
  private static final int MORE = 0x80;
  private static final int LINE_BYTES = 64;

  /** Bytes of both lengths of an entry if each takes one byte. */
  private static final int SHORT_LENGTHS = 2;

  private static final int STUB_VALUE_BYTES = Integer.BYTES + Long.BYTES;

  /** Length of an entry that names a run. */
  static final int STUB_BYTES = 2 + Long.BYTES + STUB_VALUE_BYTES;

  private ByteSpan block = new ByteSpan();
  private int start;
  private int next;

  /** End of the entries to visit. */
  private int end;

  private boolean isInBucket;
  private boolean inRun;
  private int keyAt;
  private int keyLength;
  private int valueLength;

  /** Written but never read: keeps the compiler from removing the prefetch. */
  @SuppressWarnings("UnusedVariable")
  private int touched;

  /**
   * Moves before the first entry of a block.
   *
   * @param firstEntryAt where the first entry starts, which also tells whether the block is a
   *     bucket
   */
  public EntryCursor on(ByteSpan entries, int firstEntryAt) {
    return on(entries, firstEntryAt, entries.length(), MapLayout.hasLanes(firstEntryAt));
  }

  /** Moves before an entry of any block, for reading only. */
  EntryCursor before(ByteSpan entries, int entryAt) {
    return on(entries, entryAt, entries.length(), false);
  }

  /** Moves before an entry of a bucket. */
  EntryCursor inBucket(ByteSpan bucket, int entryAt) {
    return on(bucket, entryAt, bucket.length(), true);
  }

  /** Continues in a copy of the block. */
  void moveTo(ByteSpan copy) {
    block = copy;
  }

  private EntryCursor on(ByteSpan entries, int from, int until, boolean inBucket) {
    block = entries;
    next = from;
    end = until;
    isInBucket = inBucket;
    return this;
  }

  /** Moves to the next entry; returns false at the end. */
  public boolean next() {
    if (next >= end) {
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

  /** Moves to the block's first entry that has this key or is in a run with its hash. */
  boolean seek(ByteSpan entries, int firstEntryAt, UserKey key) {
    if (MapLayout.hasLanes(firstEntryAt)) {
      int lane = Lanes.of(key.hash());
      on(entries, Lanes.begin(entries, lane), Lanes.end(entries, lane), true);
    } else {
      on(entries, firstEntryAt);
    }
    touchLines();
    return seekNext(key);
  }

  /** Moves to the next such entry. */
  boolean seekNext(UserKey key) {
    skipOthers(key);
    while (next()) {
      boolean found =
          inRun ? hashOfRun() == key.hash() : keyLength == key.length() && key.isAt(block, keyAt);
      if (found) {
        return true;
      }
      skipOthers(key);
    }
    return false;
  }

  /**
   * Skips entries that cannot have this key and remembers only the position: entries with lengths
   * of one byte whose user keys have another length or ending. Most of a bucket is skipped here.
   */
  private void skipOthers(UserKey key) {
    MemorySegment memory = block.memory();
    long until = block.offset() + end;
    long at = block.offset() + next;
    int wanted = key.length() << 1;
    long endAt = SHORT_LENGTHS + key.endAt();
    long ending = key.ending();
    long mask = key.endingMask();
    while (at + endAt + Long.BYTES <= until) {
      int head = memory.get(ValueLayout.JAVA_BYTE, at);
      int value = memory.get(ValueLayout.JAVA_BYTE, at + 1);
      boolean isPlain = (head | value) >= 0 && (head & IN_RUN) == 0;
      if (!isPlain || (head == wanted && (UserKey.word(memory, at + endAt) & mask) == ending)) {
        break;
      }
      at += SHORT_LENGTHS + (head >>> 1) + value;
    }
    next = (int) (at - block.offset());
  }

  /**
   * Prefetches all cache lines ahead at once. Without it their misses would not overlap, since the
   * position of an entry is known only after the one before it was read.
   */
  private void touchLines() {
    int sum = 0;
    for (int at = next + LINE_BYTES; at < end; at += LINE_BYTES) {
      sum += block.getByte(at);
    }
    touched = sum;
  }

  /** Whether the entry names a run. */
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

  /** Position of the entry's stamp in the block, or -1 if its value is too short for one. */
  public int stampAt() {
    int at = valueAt() + (inRun ? Integer.BYTES : MapLayout.STAMP_AT);
    return at + Long.BYTES > valueAt() + valueLength ? -1 : at;
  }

  /** Removes the entry; the cursor is then before the next one. */
  public void remove() {
    int length = length();
    Lanes.close(block, lane(), start, length);
    end -= length;
    next = start;
  }

  /** The lane of the entry in its bucket. */
  int lane() {
    return isInBucket ? Lanes.at(block, start) : Lanes.NONE;
  }

  public static int entryBytes(int keyLength, int valueLength) {
    return Varint.size(keyLength << 1) + Varint.size(valueLength) + keyLength + valueLength;
  }

  /** Appends an entry to a lane, or to a block without lanes, which must have room for it. */
  static void append(ByteSpan block, int lane, UserKey key, byte[] value, int offset, int length) {
    int at = Lanes.open(block, lane, entryBytes(key.length(), length));
    at = writeVarint(block, at, key.length() << 1);
    at = writeVarint(block, at, length);
    block.copyFrom(at, key.bytes(), key.offset(), key.length());
    block.copyFrom(at + key.length(), value, offset, length);
  }

  /** Adds an entry that names a run. */
  static void appendStub(ByteSpan block, int lane, long hash, int run, long stamp) {
    int at = Lanes.open(block, lane, STUB_BYTES);
    at = writeVarint(block, at, Long.BYTES << 1 | IN_RUN);
    at = writeVarint(block, at, STUB_VALUE_BYTES);
    block.putLong(at, hash);
    block.putInt(at + Long.BYTES, run);
    block.putLong(at + Long.BYTES + Integer.BYTES, stamp);
  }

  /**
   * Appends a copy of the entry to a lane of another block, or to a block without lanes, which must
   * have room for it.
   */
  void copyTo(ByteSpan other, int lane) {
    int at = Lanes.open(other, lane, length());
    MemorySegment.copy(
        block.memory(), block.offset() + start, other.memory(), other.offset() + at, length());
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
