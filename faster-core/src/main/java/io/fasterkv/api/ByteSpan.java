package io.fasterkv.api;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * A window on bytes: a key, a value, or room for a new value. One mutable object is wrapped around
 * one place after another, so that looking at a record allocates nothing.
 *
 * <p>A span that the store hands to a callback is valid during that callback only; its bytes may
 * lie in the log, off-heap. All offsets are relative to the start of the window and in bytes;
 * multi-byte numbers are in the machine's byte order unless the method says otherwise. Reads are
 * checked against {@link #length()}, writes against {@link #capacity()}; a place outside is an
 * {@link IndexOutOfBoundsException}. Not safe for use by two threads.
 */
public final class ByteSpan {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private MemorySegment memory = NOTHING;
  private long offset;
  private int length;
  private int capacity;

  /** An empty window. */
  public ByteSpan() {}

  /** A window on a whole array; the array is not copied. */
  public static ByteSpan of(byte[] bytes) {
    return new ByteSpan().wrap(bytes);
  }

  /** A window on a whole segment of at most 2 GiB, heap or native; nothing is copied. */
  public static ByteSpan of(MemorySegment bytes) {
    int size = Math.toIntExact(bytes.byteSize());
    return new ByteSpan().wrap(bytes, 0, size, size);
  }

  /** Points this window at a whole array. */
  public ByteSpan wrap(byte[] bytes) {
    return wrap(MemorySegment.ofArray(bytes), 0, bytes.length, bytes.length);
  }

  /**
   * Points this window at {@code length} bytes of {@code memory} from {@code offset} on; it can
   * grow up to {@code capacity} bytes.
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

  /** Lets go of the memory, so that a window kept beyond its time reads nothing. */
  public void release() {
    memory = NOTHING;
    offset = 0;
    length = 0;
    capacity = 0;
  }

  /** The memory this window lies in; the window starts at {@link #offset()}. */
  public MemorySegment memory() {
    return memory;
  }

  /** Where the window starts in {@link #memory()}, in bytes. */
  public long offset() {
    return offset;
  }

  /** How many bytes there are. */
  public int length() {
    return length;
  }

  /** How many bytes the window may grow to in its place. */
  public int capacity() {
    return capacity;
  }

  /** Sets how many bytes there are: 0 to {@link #capacity()}. */
  public ByteSpan setLength(int newLength) {
    Objects.checkFromToIndex(0, newLength, capacity);
    length = newLength;
    return this;
  }

  public byte getByte(int at) {
    return memory.get(ValueLayout.JAVA_BYTE, readable(at, Byte.BYTES));
  }

  public int getInt(int at) {
    return memory.get(ValueLayout.JAVA_INT_UNALIGNED, readable(at, Integer.BYTES));
  }

  public long getLong(int at) {
    return memory.get(ValueLayout.JAVA_LONG_UNALIGNED, readable(at, Long.BYTES));
  }

  public void putByte(int at, byte value) {
    memory.set(ValueLayout.JAVA_BYTE, writable(at, Byte.BYTES), value);
  }

  public void putInt(int at, int value) {
    memory.set(ValueLayout.JAVA_INT_UNALIGNED, writable(at, Integer.BYTES), value);
  }

  public void putLong(int at, long value) {
    memory.set(ValueLayout.JAVA_LONG_UNALIGNED, writable(at, Long.BYTES), value);
  }

  /** Copies {@code count} bytes from {@code at} on into an array. */
  public void copyTo(int at, byte[] target, int targetOffset, int count) {
    MemorySegment.copy(
        memory, ValueLayout.JAVA_BYTE, readable(at, count), target, targetOffset, count);
  }

  /** Copies {@code count} bytes of an array to {@code at} and after; the length does not change. */
  public void copyFrom(int at, byte[] source, int sourceOffset, int count) {
    MemorySegment.copy(
        source, sourceOffset, memory, ValueLayout.JAVA_BYTE, writable(at, count), count);
  }

  /** Copies all bytes of another span to {@code at} and after; the length does not change. */
  public void copyFrom(int at, ByteSpan source) {
    MemorySegment.copy(
        source.memory, source.offset, memory, writable(at, source.length), source.length);
  }

  /** Makes this span's bytes and length those of {@code source}, which must fit the capacity. */
  public void setTo(ByteSpan source) {
    copyFrom(0, source);
    length = source.length;
  }

  /** A fresh array with the bytes. */
  public byte[] toArray() {
    byte[] bytes = new byte[length];
    copyTo(0, bytes, 0, length);
    return bytes;
  }

  /** Whether both hold the same bytes. */
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
