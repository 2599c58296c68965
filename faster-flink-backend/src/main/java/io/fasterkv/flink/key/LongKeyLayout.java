package io.fasterkv.flink.key;

import io.fasterkv.api.ByteSpan;

/**
 * Draws a record's key with a digest, for a key and namespace that are too long for {@link
 * KeyLayout}.
 *
 * <pre>
 *   0           2          4      6              38     39
 *   | key group | state id | 8000 | SHA-256: 32  | part | sub number |
 *   | 2, BE     | 2, BE    | 2    |              | 1    | 4, BE      |
 * </pre>
 *
 * <p>The digest covers the bytes that {@link KeyLayout} stores there: length of the key, key, and
 * namespace. No length starts with the bytes 8000. Part 1 has the records of the state. Part 0 is
 * the <em>key record</em>: the digested bytes, as a single value in pieces. It sorts right before
 * part 1, so a reader of sorted records reads the key before the value.
 */
public final class LongKeyLayout {
  /** Maximum bytes of the key's length, key and namespace in a record key without digest. */
  public static final int MOST_SHORT_BYTES = 8 << 10;

  private static final int MARK_AT = KeyLayout.KEY_LENGTH_AT;
  private static final byte FIRST_MARK = (byte) 0x80;
  private static final byte SECOND_MARK = 0;
  static final int DIGEST_AT = MARK_AT + 2;
  static final int DIGEST_BYTES = 32;
  static final int PART_AT = DIGEST_AT + DIGEST_BYTES;
  static final int PREFIX_BYTES = PART_AT + 1;
  static final int RECORD_BYTES = PREFIX_BYTES + KeyLayout.SUB_BYTES;
  static final byte KEY_PART = 0;
  static final byte STATE_PART = 1;

  /** The bytes that all records of one state, key and namespace begin with. */
  public static final int SHARED_BYTES = PART_AT;

  private LongKeyLayout() {}

  /** Whether a record key has a digest. */
  public static boolean hasDigest(ByteSpan key) {
    return key.getByte(MARK_AT) == FIRST_MARK && key.getByte(MARK_AT + 1) == SECOND_MARK;
  }

  /** Whether a record key that starts in an array has a digest. */
  public static boolean hasDigest(byte[] bytes, int start) {
    return bytes[start + MARK_AT] == FIRST_MARK && bytes[start + MARK_AT + 1] == SECOND_MARK;
  }

  /** Whether a record is the head or a piece of a key record. */
  public static boolean isOfKeyRecord(ByteSpan key) {
    return hasDigest(key) && key.getByte(PART_AT) == KEY_PART;
  }

  /** Whether a record whose key has a digest is the head or a piece of a key record. */
  public static boolean isOfKeyRecord(byte[] bytes, int start) {
    return bytes[start + PART_AT] == KEY_PART;
  }

  /** Changes the record key of a key record, which starts the array, to that of its value. */
  public static void toState(byte[] bytes) {
    bytes[PART_AT] = STATE_PART;
  }

  static void mark(byte[] bytes) {
    bytes[MARK_AT] = FIRST_MARK;
    bytes[MARK_AT + 1] = SECOND_MARK;
    bytes[PART_AT] = STATE_PART;
  }
}
