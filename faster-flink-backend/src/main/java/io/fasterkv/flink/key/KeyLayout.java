package io.fasterkv.flink.key;

import io.fasterkv.api.ByteSpan;
import java.util.Arrays;

/**
 * Draws a record's key in the store; {@link LongKeyLayout} draws long keys.
 *
 * <pre>
 *   0           2          4               .
 *   | key group | state id | length of key | key | namespace | sub number |
 *   | 2, BE     | 2, BE    | varint, 1..5  |     |           | 4, BE      |
 * </pre>
 *
 * <p>Everything before the sub number is the <em>prefix</em>: it identifies one state of one key in
 * one namespace. Sub number 0 is its head record; other sub numbers are its pieces, chunks or
 * buckets. Records are ordered by prefix and then by sub number as an unsigned number. So the
 * records of a prefix are adjacent, key groups are ranges, and so are states within a key group.
 */
public final class KeyLayout {
  public static final int KEY_GROUP_AT = 0;
  public static final int STATE_AT = 2;
  public static final int KEY_LENGTH_AT = 4;
  public static final int SUB_BYTES = 4;

  /** Maximum number of states of one operator; their ids are 0 to this, exclusive. */
  public static final int MOST_STATES = 1 << 15;

  private KeyLayout() {}

  public static int keyGroup(byte[] bytes, int start) {
    return shortAt(bytes, start + KEY_GROUP_AT);
  }

  /** The key group of a record key. */
  public static int keyGroup(ByteSpan key) {
    return (key.getByte(KEY_GROUP_AT) & 0xFF) << Byte.SIZE | (key.getByte(KEY_GROUP_AT + 1) & 0xFF);
  }

  /** The state of a record key. */
  public static int state(ByteSpan key) {
    return (key.getByte(STATE_AT) & 0xFF) << Byte.SIZE | (key.getByte(STATE_AT + 1) & 0xFF);
  }

  /** The sub number of a record key. */
  public static int sub(ByteSpan key) {
    int sub = 0;
    for (int at = key.length() - SUB_BYTES; at < key.length(); at++) {
      sub = sub << Byte.SIZE | (key.getByte(at) & 0xFF);
    }
    return sub;
  }

  public static int state(byte[] bytes, int start) {
    return shortAt(bytes, start + STATE_AT);
  }

  public static int keyLength(byte[] bytes, int start) {
    return Varint.read(bytes, start + KEY_LENGTH_AT);
  }

  /** Offset of the key, relative to the start of the array. */
  public static int keyAt(byte[] bytes, int start) {
    return start + KEY_LENGTH_AT + Varint.size(keyLength(bytes, start));
  }

  /** The sub number of a record key of {@code length} bytes. */
  public static int sub(byte[] bytes, int start, int length) {
    int at = start + length - SUB_BYTES;
    return shortAt(bytes, at) << 16 | shortAt(bytes, at + 2);
  }

  /** Changes the sub number of a record key of {@code length} bytes that starts the array. */
  public static void putSub(byte[] bytes, int length, int sub) {
    putInt(bytes, length - SUB_BYTES, sub);
  }

  /** Orders two record keys by prefix and then by sub number. */
  public static int compare(
      byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
    int leftEnd = leftStart + leftLength - SUB_BYTES;
    int rightEnd = rightStart + rightLength - SUB_BYTES;
    int byPrefix = Arrays.compareUnsigned(left, leftStart, leftEnd, right, rightStart, rightEnd);
    return byPrefix != 0
        ? byPrefix
        : Integer.compareUnsigned(
            sub(left, leftStart, leftLength), sub(right, rightStart, rightLength));
  }

  /** Changes the state of a record key that starts the array. */
  public static void putState(byte[] bytes, int state) {
    putShort(bytes, STATE_AT, state);
  }

  static void putShort(byte[] bytes, int at, int value) {
    bytes[at] = (byte) (value >>> 8);
    bytes[at + 1] = (byte) value;
  }

  static void putInt(byte[] bytes, int at, int value) {
    putShort(bytes, at, value >>> 16);
    putShort(bytes, at + 2, value);
  }

  private static int shortAt(byte[] bytes, int at) {
    return (bytes[at] & 0xFF) << 8 | bytes[at + 1] & 0xFF;
  }
}
