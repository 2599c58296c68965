package io.fasterkv.flink.records.map;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.records.base.Numbers;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** A map's serialized user key and its hash, which is computed when it is first asked for. */
final class UserKey {
  private static final VarHandle LITTLE_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long SEED = 0x9E3779B97F4A7C15L;
  private static final long MIX = 0xD6E8FEB86659FD93L;

  private byte[] bytes = new byte[0];
  private int offset;
  private int length;
  private long hash;
  private boolean isHashed;
  private long ending;

  UserKey of(byte[] key, int from, int count) {
    bytes = key;
    offset = from;
    length = count;
    isHashed = false;
    ending = ending(key, from, count);
    return this;
  }

  private static long ending(byte[] key, int from, int count) {
    if (count >= Long.BYTES) {
      return (long) LITTLE_ENDIAN.get(key, from + count - Long.BYTES);
    }
    long ending = 0;
    for (int at = from + count - 1; at >= from; at--) {
      ending = ending << Byte.SIZE | key[at] & 0xFF;
    }
    return ending;
  }

  /** Position of the last eight bytes of the key; 0 for a shorter key. */
  int endAt() {
    return Math.max(0, length - Long.BYTES);
  }

  /** The last eight bytes of the key, or all of them, as {@link #word} reads them. */
  long ending() {
    return ending;
  }

  /** The mask of the bits that {@link #ending} uses in a word. */
  long endingMask() {
    return length >= Long.BYTES ? -1 : (1L << Byte.SIZE * length) - 1;
  }

  /** Eight bytes as a little-endian number. */
  static long word(MemorySegment memory, long at) {
    return memory.get(WORD, at);
  }

  byte[] bytes() {
    return bytes;
  }

  int offset() {
    return offset;
  }

  int length() {
    return length;
  }

  long hash() {
    if (!isHashed) {
      hash = hash(bytes, offset, length);
      isHashed = true;
    }
    return hash;
  }

  /** Whether {@code block} has this key at {@code at}. */
  boolean isAt(ByteSpan block, int at) {
    int done = 0;
    for (; done + Long.BYTES <= length; done += Long.BYTES) {
      if (block.getLong(at + done) != Numbers.getLong(bytes, offset + done)) {
        return false;
      }
    }
    for (; done < length; done++) {
      if (block.getByte(at + done) != bytes[offset + done]) {
        return false;
      }
    }
    return true;
  }

  /** Hashes bytes, eight at a time, folding in each word with a wide multiplication. */
  static long hash(byte[] bytes, int offset, int length) {
    long state = SEED ^ length;
    int at = offset;
    int end = offset + length;
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      state = fold(state ^ (long) LITTLE_ENDIAN.get(bytes, at));
    }
    long rest = 0;
    for (; at < end; at++) {
      rest = rest << Byte.SIZE | bytes[at] & 0xFF;
    }
    return fold(state ^ rest);
  }

  private static long fold(long value) {
    long product = value * MIX;
    return product ^ Math.unsignedMultiplyHigh(value, MIX) ^ product >>> 29;
  }
}
