package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Growing bytes on the heap, reused from one record to the next. A buffer that had to grow past 1
 * MiB is given up when it is cleared, so that one huge value does not stay.
 */
public final class Bytes implements RecordReader {
  private static final int FIRST_BYTES = 256;
  static final int KEPT_BYTES = 1 << 20;

  /** No array of the heap is longer. */
  public static final int MOST_BYTES = Integer.MAX_VALUE - 8;

  private byte[] array = new byte[FIRST_BYTES];
  private MemorySegment segment = MemorySegment.ofArray(array);
  private int length;

  /** The bytes, from 0 to {@link #length}; valid until the next change. */
  public byte[] array() {
    return array;
  }

  public int length() {
    return length;
  }

  public void clear() {
    length = 0;
    if (array.length > KEPT_BYTES) {
      use(new byte[FIRST_BYTES]);
    }
  }

  private void use(byte[] bytes) {
    array = bytes;
    segment = MemorySegment.ofArray(bytes);
  }

  /** The array as a segment. */
  MemorySegment segment() {
    return segment;
  }

  /** Makes room for {@code bytes} in all and sets the length; what is there stays. */
  public void setLength(int bytes) {
    reserve(bytes);
    length = bytes;
  }

  /** Makes room for {@code bytes} in all. */
  public void reserve(int bytes) {
    if (bytes > array.length) {
      use(Arrays.copyOf(array, grown(array.length, bytes)));
    }
  }

  /** How long a buffer becomes that is too short: twice as long, as far as there are arrays. */
  static int grown(int length, int needed) {
    return (int) Math.max(needed, Math.min(2L * length, MOST_BYTES));
  }

  /** Makes room for {@code count} bytes, whatever is in it, before those at {@code at}. */
  void insert(int at, int count) {
    int behind = length - at;
    setLength(Math.addExact(length, count));
    System.arraycopy(array, at, array, at + count, behind);
  }

  /** Takes out {@code count} bytes. */
  public void cut(int from, int count) {
    System.arraycopy(array, from + count, array, from, length - from - count);
    length -= count;
  }

  public void append(byte[] source, int offset, int count) {
    reserve(Math.addExact(length, count));
    System.arraycopy(source, offset, array, length, count);
    length += count;
  }

  public void append(int value) {
    reserve(length + 1);
    array[length++] = (byte) value;
  }

  void appendInt(int value) {
    reserve(length + Integer.BYTES);
    Numbers.putInt(array, length, value);
    length += Integer.BYTES;
  }

  void appendLong(long value) {
    reserve(length + Long.BYTES);
    Numbers.putLong(array, length, value);
    length += Long.BYTES;
  }

  /** Takes a copy of a record's whole value. */
  @Override
  public void read(ByteSpan value) {
    clear();
    setLength(value.length());
    value.copyTo(0, array, 0, length);
  }
}
