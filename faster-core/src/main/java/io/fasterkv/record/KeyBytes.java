package io.fasterkv.record;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A key as an operation carries it: native memory that starts at a multiple of 8 and is padded with
 * zeros to the next multiple of 8, as it is in a record.
 */
public final class KeyBytes {
  private static final int BY_WORDS = 64;

  private MemorySegment memory = MemorySegment.NULL;
  private int length;

  /** Uses the first {@code length} bytes of {@code memory} and pads them with zeros. */
  public void set(MemorySegment memory, int length) {
    this.memory = memory;
    this.length = length;
    for (long at = length; at < RecordLayout.align(length); at++) {
      memory.set(ValueLayout.JAVA_BYTE, at, (byte) 0);
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
