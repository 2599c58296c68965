package io.fasterkv.flink.records;

/**
 * The shape of a single value: value, reducing and aggregating state.
 *
 * <pre>
 *   head record (sub number 0)
 *   | WHOLE  | value ...          |
 *   | PIECES | length: 4 |          and pieces under sub numbers 1, 2, ...
 *
 *   piece: bytes of the value; all but the last are as long as a record may be
 * </pre>
 */
public final class ValueLayout {
  public static final byte WHOLE = 0;
  public static final byte PIECES = 1;
  public static final int TAG_AT = 0;
  public static final int TAG_BYTES = 1;
  static final int LENGTH_AT = TAG_BYTES;
  static final int PIECES_HEAD_BYTES = LENGTH_AT + Integer.BYTES;

  private ValueLayout() {}

  /** The value's length, from the head record of a value in pieces. */
  public static int lengthInPieces(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start + LENGTH_AT);
  }

  static int pieces(int length, int pieceBytes) {
    return Math.ceilDiv(length, pieceBytes);
  }
}
