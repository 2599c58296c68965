package io.fasterkv.api.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the hash of keys with one that reads them byte by byte. */
class DefaultKeyHashTest {
  private static final int LONGEST = 70;
  private static final long SEED = 3;

  @Test
  void everyLengthAndOffsetHasTheHashOfItsBytes() {
    byte[] random = new byte[2 * LONGEST];
    new Random(SEED).nextBytes(random);
    for (int length = 0; length <= LONGEST; length++) {
      for (int offset = 0; offset < Long.BYTES; offset++) {
        // The memory is that of the key: a load before or beyond it would throw.
        MemorySegment key = MemorySegment.ofArray(random).asSlice(offset, length);
        assertThat(DefaultKeyHash.hash(key, 0, length))
            .as("length=%d, offset=%d", length, offset)
            .isEqualTo(byBytes(random, offset, length));
      }
    }
  }

  private static long byBytes(byte[] bytes, int offset, int length) {
    long state = 0x9E3779B97F4A7C15L ^ length;
    int at = 0;
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      state = fold(state ^ word(bytes, offset + at, Long.BYTES), 0xE7037ED1A0B428DBL);
    }
    return fold(state ^ word(bytes, offset + at, length - at), 0x8EBC6AF09C88C6E3L);
  }

  private static long word(byte[] bytes, int offset, int count) {
    long word = 0;
    for (int at = 0; at < count; at++) {
      word |= (bytes[offset + at] & 0xFFL) << (at * Byte.SIZE);
    }
    return word;
  }

  private static long fold(long a, long b) {
    return (a * b) ^ Math.unsignedMultiplyHigh(a, b);
  }
}
