package io.fasterkv.api.config;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Hashes keys in the manner of wyhash: multiply and fold, eight bytes at a time. */
final class DefaultKeyHash {
  private static final long SEED = 0x9E3779B97F4A7C15L;
  private static final long MIX = 0xE7037ED1A0B428DBL;
  private static final long FINAL = 0x8EBC6AF09C88C6E3L;

  private static final ValueLayout.OfInt FOUR_BYTES =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private DefaultKeyHash() {}

  static long hash(MemorySegment memory, long offset, int length) {
    long state = SEED ^ length;
    int at = 0;
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      long word = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + at);
      state = fold(state ^ word, MIX);
    }
    return fold(state ^ rest(memory, offset + at, length - at), FINAL);
  }

  /**
   * The last, fewer than eight bytes as a number, the first one lowest. No load crosses an aligned
   * word of the key: it was just written word by word, and a load of two such stores waits for
   * both. Two kinds of loads and no third, which compiled callers would not inline.
   */
  private static long rest(MemorySegment memory, long offset, int bytes) {
    long rest = 0;
    int at = 0;
    if ((bytes & 4) != 0) {
      rest = memory.get(FOUR_BYTES, offset) & 0xFFFF_FFFFL;
      at = 4;
    }
    for (; at < bytes; at++) {
      rest |= (memory.get(ValueLayout.JAVA_BYTE, offset + at) & 0xFFL) << (at * Byte.SIZE);
    }
    return rest;
  }

  private static long fold(long a, long b) {
    return (a * b) ^ Math.unsignedMultiplyHigh(a, b);
  }
}
