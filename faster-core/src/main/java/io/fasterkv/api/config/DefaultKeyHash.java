package io.fasterkv.api.config;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Hashes keys in the manner of wyhash: multiply and fold, eight bytes at a time. */
final class DefaultKeyHash {
  private static final long SEED = 0x9E3779B97F4A7C15L;
  private static final long MIX = 0xE7037ED1A0B428DBL;
  private static final long FINAL = 0x8EBC6AF09C88C6E3L;

  private DefaultKeyHash() {}

  static long hash(MemorySegment memory, long offset, int length) {
    long state = SEED ^ length;
    int at = 0;
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      long word = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + at);
      state = fold(state ^ word, MIX);
    }
    long rest = 0;
    for (int shift = 0; at < length; at++, shift += Byte.SIZE) {
      rest |= (memory.get(ValueLayout.JAVA_BYTE, offset + at) & 0xFFL) << shift;
    }
    return fold(state ^ rest, FINAL);
  }

  private static long fold(long a, long b) {
    return (a * b) ^ Math.unsignedMultiplyHigh(a, b);
  }
}
