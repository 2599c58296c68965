package io.fasterkv.flink.records.base;

import io.fasterkv.api.ByteSpan;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A growing byte array on the heap that is reused from one record to the next. {@link #clear} drops
 * an array larger than 1 MiB, so that one huge value does not occupy the heap for ever.
 */
public final class Bytes implements RecordReader {
  private static final int FIRST_BYTES = 256;
  static final int KEPT_BYTES = 1 << 20;

  /** Maximum length of an array on the heap. */
  public static final int MOST_BYTES = Integer.MAX_VALUE - 8;

  private byte[] array;
  private MemorySegment segment;
  private int length;

  public Bytes() {
    this(FIRST_BYTES);
  }

  /** With room for this many bytes at first. */
  public Bytes(int capacity) {
    array = new byte[capacity];
    segment = MemorySegment.ofArray(array);
  }

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

  /** Sets the length and grows the array if necessary; keeps the bytes. */
  public void setLength(int bytes) {
    reserve(bytes);
    length = bytes;
  }

  /** Makes room for {@code bytes} in total. */
  public void reserve(int bytes) {
    if (bytes > array.length) {
      use(Arrays.copyOf(array, grown(array.length, bytes)));
    }
  }

  /** The new length of an array that is too short: twice the old one, up to the longest array. */
  static int grown(int length, int needed) {
    return (int) Math.max(needed, Math.min(2L * length, MOST_BYTES));
  }

  /** Inserts {@code count} bytes with arbitrary contents before {@code at}. */
  public void insert(int at, int count) {
    int behind = length - at;
    setLength(Math.addExact(length, count));
    System.arraycopy(array, at, array, at + count, behind);
  }

  /** Removes {@code count} bytes. */
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

  public void appendInt(int value) {
    reserve(length + Integer.BYTES);
    Numbers.putInt(array, length, value);
    length += Integer.BYTES;
  }

  public void appendLong(long value) {
    reserve(length + Long.BYTES);
    Numbers.putLong(array, length, value);
    length += Long.BYTES;
  }

  /** Copies a record's whole value. */
  @Override
  public void read(ByteSpan value) {
    clear();
    setLength(value.length());
    value.copyTo(0, array, 0, length);
  }
}
