package io.fasterkv.api;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * A reusable window on bytes: a key, a value, or room for a new value. The same object is pointed
 * at one place after another, so accessing a record allocates nothing.
 *
 * <p>A span that the store passes to a callback is valid only during that callback; its bytes may
 * be off-heap, inside the log. All offsets are in bytes, relative to the start of the window.
 * Multi-byte numbers use the machine's byte order unless the method says otherwise. Reads are
 * checked against {@link #length()} and writes against {@link #capacity()}; an access outside
 * throws {@link IndexOutOfBoundsException}. Not safe for concurrent use.
 */
public final class ByteSpan {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private MemorySegment memory = NOTHING;
  private long offset;
  private int length;
  private int capacity;

  /** Creates an empty window. */
  public ByteSpan() {}

  /**
   * Creates a window on a whole array. The array is not copied.
   *
   * @param bytes the array
   * @return a new window, whose length and capacity are those of the array
   */
  public static ByteSpan of(byte[] bytes) {
    return new ByteSpan().wrap(bytes);
  }

  /**
   * Creates a window on a whole segment, on-heap or native. Nothing is copied.
   *
   * @param bytes the segment, at most 2 GiB - 1
   * @return a new window, whose length and capacity are the size of the segment
   * @throws ArithmeticException if the segment is larger
   */
  public static ByteSpan of(MemorySegment bytes) {
    int size = Math.toIntExact(bytes.byteSize());
    return new ByteSpan().wrap(bytes, 0, size, size);
  }

  /**
   * Points this window at a whole array. The array is not copied.
   *
   * @param bytes the array
   * @return this window
   */
  public ByteSpan wrap(byte[] bytes) {
    return wrap(MemorySegment.ofArray(bytes), 0, bytes.length, bytes.length);
  }

  /**
   * Points this window at a part of a segment. Nothing is copied.
   *
   * @param memory the segment, on-heap or native
   * @param offset where the window starts in the segment, in bytes
   * @param length number of bytes in the window, 0 to {@code capacity}
   * @param capacity number of bytes that the window can grow to
   * @return this window
   * @throws IndexOutOfBoundsException if the range is outside the segment, or the length above the
   *     capacity
   */
  public ByteSpan wrap(MemorySegment memory, long offset, int length, int capacity) {
    Objects.checkFromIndexSize(offset, capacity, memory.byteSize());
    Objects.checkFromToIndex(0, length, capacity);
    this.memory = memory;
    this.offset = offset;
    this.length = length;
    this.capacity = capacity;
    return this;
  }

  /**
   * Empties this window and drops its reference to the memory. A span that a callback keeps too
   * long then reads nothing.
   */
  public void release() {
    memory = NOTHING;
    offset = 0;
    length = 0;
    capacity = 0;
  }

  /** {@return the memory that this window is on; the window starts at {@link #offset()}} */
  public MemorySegment memory() {
    return memory;
  }

  /** {@return where the window starts in {@link #memory()}, in bytes} */
  public long offset() {
    return offset;
  }

  /** {@return the number of bytes in the window} */
  public int length() {
    return length;
  }

  /** {@return the number of bytes that the window can grow to without moving} */
  public int capacity() {
    return capacity;
  }

  /**
   * Sets the number of bytes in the window. Their content does not change.
   *
   * @param newLength 0 to {@link #capacity()}
   * @return this window
   * @throws IndexOutOfBoundsException if the length is outside that range
   */
  public ByteSpan setLength(int newLength) {
    Objects.checkFromToIndex(0, newLength, capacity);
    length = newLength;
    return this;
  }

  /**
   * Reads one byte.
   *
   * @param at offset in this window
   * @return the byte
   */
  public byte getByte(int at) {
    return memory.get(ValueLayout.JAVA_BYTE, readable(at, Byte.BYTES));
  }

  /**
   * Reads an {@code int} in the machine's byte order, at any alignment.
   *
   * @param at offset in this window
   * @return the number
   */
  public int getInt(int at) {
    return memory.get(ValueLayout.JAVA_INT_UNALIGNED, readable(at, Integer.BYTES));
  }

  /**
   * Reads a {@code long} in the machine's byte order, at any alignment.
   *
   * @param at offset in this window
   * @return the number
   */
  public long getLong(int at) {
    return memory.get(ValueLayout.JAVA_LONG_UNALIGNED, readable(at, Long.BYTES));
  }

  /**
   * Writes one byte. The window's length does not change.
   *
   * @param at offset in this window
   * @param value the byte
   */
  public void putByte(int at, byte value) {
    memory.set(ValueLayout.JAVA_BYTE, writable(at, Byte.BYTES), value);
  }

  /**
   * Writes an {@code int} in the machine's byte order, at any alignment. The window's length does
   * not change.
   *
   * @param at offset in this window
   * @param value the number
   */
  public void putInt(int at, int value) {
    memory.set(ValueLayout.JAVA_INT_UNALIGNED, writable(at, Integer.BYTES), value);
  }

  /**
   * Writes a {@code long} in the machine's byte order, at any alignment. The window's length does
   * not change.
   *
   * @param at offset in this window
   * @param value the number
   */
  public void putLong(int at, long value) {
    memory.set(ValueLayout.JAVA_LONG_UNALIGNED, writable(at, Long.BYTES), value);
  }

  /**
   * Copies bytes of this window into an array.
   *
   * @param at where to start in this window
   * @param target the array to copy to
   * @param targetOffset where to start in the array
   * @param count number of bytes
   */
  public void copyTo(int at, byte[] target, int targetOffset, int count) {
    MemorySegment.copy(
        memory, ValueLayout.JAVA_BYTE, readable(at, count), target, targetOffset, count);
  }

  /**
   * Copies bytes of an array into this window. The window's length does not change.
   *
   * @param at where to start in this window
   * @param source the array to copy from
   * @param sourceOffset where to start in the array
   * @param count number of bytes
   */
  public void copyFrom(int at, byte[] source, int sourceOffset, int count) {
    MemorySegment.copy(
        source, sourceOffset, memory, ValueLayout.JAVA_BYTE, writable(at, count), count);
  }

  /**
   * Copies all bytes of another span into this window. This window's length does not change.
   *
   * @param at where to start in this window
   * @param source the span to copy from
   */
  public void copyFrom(int at, ByteSpan source) {
    MemorySegment.copy(
        source.memory, source.offset, memory, writable(at, source.length), source.length);
  }

  /**
   * Gives this span the bytes and the length of another one.
   *
   * @param source the span to copy from; its length must be at most this span's capacity
   */
  public void setTo(ByteSpan source) {
    copyFrom(0, source);
    length = source.length;
  }

  /** {@return a new array with a copy of the bytes} */
  public byte[] toArray() {
    byte[] bytes = new byte[length];
    copyTo(0, bytes, 0, length);
    return bytes;
  }

  /**
   * Compares the bytes of two spans.
   *
   * @param other the span to compare with
   * @return whether both have the same length and the same bytes
   */
  public boolean contentEquals(ByteSpan other) {
    return length == other.length
        && MemorySegment.mismatch(
                memory,
                offset,
                offset + length,
                other.memory,
                other.offset,
                other.offset + other.length)
            < 0;
  }

  private long readable(int at, int count) {
    Objects.checkFromIndexSize(at, count, length);
    return offset + at;
  }

  private long writable(int at, int count) {
    Objects.checkFromIndexSize(at, count, capacity);
    return offset + at;
  }

  @Override
  public String toString() {
    return "ByteSpan[length=" + length + ", capacity=" + capacity + "]";
  }
}
