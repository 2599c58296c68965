package io.fasterkv.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.memory.Words;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests keys of every length, copied in the same way as by an operation. */
class KeyBytesTest {
  private static final int LONGEST = 150;
  private static final int SOURCE_BYTES = 200;
  private static final long SEED = 7;

  private final byte[] random = new byte[SOURCE_BYTES];

  KeyBytesTest() {
    new Random(SEED).nextBytes(random);
  }

  @Test
  void aCopyOfAnArrayIsPaddedWithZeros() {
    copyFrom(MemorySegment.ofArray(random));
  }

  @Test
  void aCopyOfNativeMemoryIsPaddedWithZeros() {
    try (Arena arena = Arena.ofConfined()) {
      copyFrom(arena.allocateFrom(ValueLayout.JAVA_BYTE, random));
    }
  }

  private void copyFrom(MemorySegment source) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(SOURCE_BYTES, Long.BYTES);
      for (int length = 0; length <= LONGEST; length++) {
        for (int offset = 0; offset <= Long.BYTES; offset++) {
          buffer.fill((byte) -1);
          KeyBytes key = new KeyBytes();
          // The source ends with the key: a load beyond it would throw.
          key.copy(source.asSlice(0, offset + length), offset, length, buffer);

          int padded = (int) Words.align(length);
          byte[] expected = new byte[padded + 1];
          System.arraycopy(random, offset, expected, 0, length);
          expected[padded] = -1;
          assertThat(buffer.asSlice(0, padded + 1).toArray(ValueLayout.JAVA_BYTE))
              .as("length=%d, offset=%d", length, offset)
              .isEqualTo(expected);
          assertThat(key.length()).isEqualTo(length);
          assertThat(key.memory()).isSameAs(buffer);
          assertThat(isEqualOnlyToItself(key, buffer)).isTrue();
          assertThat(key.asLong()).isEqualTo(length == 0 ? 0 : Words.loadPlain(buffer, 0));
        }
      }
    }
  }

  /** Compares a key with a copy in a record, and with the copy after each byte was changed. */
  private static boolean isEqualOnlyToItself(KeyBytes key, MemorySegment buffer) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment record = arena.allocate(SOURCE_BYTES, Long.BYTES);
      record.fill((byte) -1);
      long padded = Words.align(key.length());
      key.copyTo(record, Long.BYTES);
      if (record.asSlice(Long.BYTES, padded).mismatch(buffer.asSlice(0, padded)) >= 0
          || record.get(ValueLayout.JAVA_BYTE, Long.BYTES + padded) != -1) {
        return false;
      }
      for (int at = 0; at < key.length(); at++) {
        byte before = record.get(ValueLayout.JAVA_BYTE, Long.BYTES + at);
        record.set(ValueLayout.JAVA_BYTE, Long.BYTES + at, (byte) ~before);
        if (key.contentEquals(record, Long.BYTES)) {
          return false;
        }
        record.set(ValueLayout.JAVA_BYTE, Long.BYTES + at, before);
      }
      return key.contentEquals(record, Long.BYTES);
    }
  }
}
