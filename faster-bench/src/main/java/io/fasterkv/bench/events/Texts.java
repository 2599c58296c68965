package io.fasterkv.bench.events;

import java.nio.charset.StandardCharsets;
import org.apache.flink.table.data.StringData;

/** Random texts of lower-case letters. */
final class Texts {
  private static final int SHORTEST = 3;
  private static final int LETTERS = 26;
  private static final int LETTERS_OF_A_WORD = 12;
  private static final int BITS = 5;

  private final EventRandom random;

  Texts(EventRandom random) {
    this.random = random;
  }

  /** A text of this many letters. */
  byte[] letters(int length) {
    byte[] text = new byte[length];
    for (int i = 0; i < length; ) {
      long bits = random.nextBits();
      int end = Math.min(length, i + LETTERS_OF_A_WORD);
      for (; i < end; i++) {
        text[i] = (byte) ('a' + (((bits & 31) * LETTERS) >>> BITS));
        bits >>>= BITS;
      }
    }
    return text;
  }

  /** A text of 3 letters up to {@code longest}, which is excluded. */
  byte[] upTo(int longest) {
    return letters(SHORTEST + (int) random.below(longest - SHORTEST));
  }

  /**
   * What fills an event of {@code size} bytes, so that events have {@code average} bytes on
   * average, spread over a fifth to both sides; empty if the event is longer already.
   */
  StringData filling(int size, int average) {
    int missing = average - size;
    if (missing <= 0) {
      return StringData.fromBytes(new byte[0]);
    }
    int spread = (int) Math.round(missing * 0.2);
    int length = missing - spread + (spread == 0 ? 0 : (int) random.below(2L * spread));
    return StringData.fromBytes(letters(length));
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
