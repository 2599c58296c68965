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
  /** Keys of up to this length are copied and compared word by word. */
  private static final int BY_WORDS = 64;

  private static final int KEPT_BYTES = 4 * Long.BYTES;
  private static final boolean IS_LITTLE_ENDIAN =
      ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private MemorySegment memory = MemorySegment.NULL;
  private int length;

  // The first words, zero beyond the key: comparing them reads only the other key's memory.
  private long word0;
  private long word1;
  private long word2;
  private long word3;

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
    word0 = load(0);
    word1 = load(8);
    word2 = load(16);
    word3 = load(24);
  }

  private long load(int at) {
    return at < length ? Words.loadPlain(memory, at) : 0;
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
    word0 = copyWord(source, offset, 0);
    word1 = copyWord(source, offset, 8);
    word2 = copyWord(source, offset, 16);
    word3 = copyWord(source, offset, 24);
    for (int at = KEPT_BYTES; at < length; at += Long.BYTES) {
      copyWord(source, offset, at);
    }
  }

  /** Copies the word at {@code at} of a key of 8 bytes or more; returns zero beyond the key. */
  private long copyWord(MemorySegment source, long offset, int at) {
    int bytes = length - at;
    if (bytes <= 0) {
      return 0;
    }
    long word;
    if (bytes >= Long.BYTES) {
      word = source.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + at);
    } else {
      int others = (Long.BYTES - bytes) * Byte.SIZE;
      long last = source.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + length - Long.BYTES);
      word = IS_LITTLE_ENDIAN ? last >>> others : last << others;
    }
    Words.storePlain(memory, at, word);
    return word;
  }

  public MemorySegment memory() {
    return memory;
  }

  public int length() {
    return length;
  }

  /** The first 8 bytes as a number. */
  public long asLong() {
    return word0;
  }

  /** Copies the whole words of the key; a short one needs no load. */
  void copyTo(MemorySegment target, long offset) {
    if (length > KEPT_BYTES) {
      MemorySegment.copy(memory, 0, target, offset, Words.align(length));
      return;
    }
    storeWord(target, offset, 0, word0);
    storeWord(target, offset, 8, word1);
    storeWord(target, offset, 16, word2);
    storeWord(target, offset, 24, word3);
  }

  private void storeWord(MemorySegment target, long offset, int at, long word) {
    if (at < length) {
      Words.storePlain(target, offset + at, word);
    }
  }

  boolean contentEquals(MemorySegment other, long offset) {
    if (length <= KEPT_BYTES) {
      return (length <= 0 || Words.loadPlain(other, offset) == word0)
          && (length <= 8 || Words.loadPlain(other, offset + 8) == word1)
          && (length <= 16 || Words.loadPlain(other, offset + 16) == word2)
          && (length <= 24 || Words.loadPlain(other, offset + 24) == word3);
    }
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
