package io.fasterkv.record;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/**
 * A key as an operation carries it: native memory that starts at a multiple of 8 and is padded with
 * zeros to the next multiple of 8, as it is in a record.
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
      Words.storePlain(memory, at, Words.loadPlain(memory, at) & first(bytes));
    }
  }

  /** The first so many bytes of a word, one at least. */
  private static long first(int bytes) {
    int others = Long.SIZE - bytes * Byte.SIZE;
    return IS_LITTLE_ENDIAN ? -1L >>> others : -1L << others;
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
    MemorySegment.copy(memory, 0, target, offset, RecordLayout.align(length));
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
