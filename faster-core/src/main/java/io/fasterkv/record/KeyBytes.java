package io.fasterkv.record;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * An operation's key in native memory, starting at a multiple of 8 and padded with zeros to the
 * next multiple of 8, as in a record.
 */
public final class KeyBytes {
  private static final int BY_WORDS = 64;
  private static final boolean IS_LITTLE_ENDIAN =
      ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private MemorySegment memory = MemorySegment.NULL;
  private int length;

  /** Uses the first {@code length} bytes of {@code memory} and pads them with zeros. */
  public void set(MemorySegment memory, int length) {
    this.memory = memory;
    this.length = length;
    int bytes = length % Long.BYTES;
    if (bytes != 0) {
      long at = length - bytes;
      int others = Long.SIZE - bytes * Byte.SIZE;
      long first = IS_LITTLE_ENDIAN ? -1L >>> others : -1L << others;
      Words.storePlain(memory, at, Words.loadPlain(memory, at) & first);
    }
  }

  /**
   * Copies {@code length} bytes to {@code memory}, which must have room for the padding, and uses
   * them. It copies whole words: the key is hashed next, and a processor forwards a recent store to
   * a load only if that one store covers the whole load.
   */
  public void copy(MemorySegment source, long offset, int length, MemorySegment memory) {
    if (length < Long.BYTES || length > BY_WORDS) {
      MemorySegment.copy(source, offset, memory, 0, length);
      set(memory, length);
      return;
    }
    this.memory = memory;
    this.length = length;
    int at = 0;
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      Words.storePlain(memory, at, source.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + at));
    }
    if (at < length) {
      int others = (at + Long.BYTES - length) * Byte.SIZE;
      long last = source.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + length - Long.BYTES);
      Words.storePlain(memory, at, IS_LITTLE_ENDIAN ? last >>> others : last << others);
    }
  }

  public MemorySegment memory() {
    return memory;
  }

  public int length() {
    return length;
  }

  /** The first 8 bytes as a number. */
  public long asLong() {
    return Words.loadPlain(memory, 0);
  }

  void copyTo(MemorySegment target, long offset) {
    MemorySegment.copy(memory, 0, target, offset, Words.align(length));
  }

  boolean contentEquals(MemorySegment other, long offset) {
    if (length > BY_WORDS) {
      return MemorySegment.mismatch(memory, 0, length, other, offset, offset + length) < 0;
    }
    for (long at = 0; at < length; at += Long.BYTES) {
      if (Words.loadPlain(memory, at) != Words.loadPlain(other, offset + at)) {
        return false;
      }
    }
    return true;
  }
}
