package io.fasterkv.flink.records.base;

/**
 * Draws a single value, as value, reducing and aggregating state have it.
 *
 * <pre>
 *   head record (sub number 0)
 *   | WHOLE  | value ...                            |
 *   | PIECES | incarnation: 8 | length: 4 | start: 8 |    and pieces under sub numbers 1, 2, ...
 *
 *   piece
 *   | incarnation: 8 | start: 8 | bytes of the value |    all but the last as long as a record may be
 * </pre>
 *
 * <p>The start is the first eight bytes of the value. Where values expire, these bytes are the
 * timestamp, and compaction drops head and pieces one by one; a value with a missing piece has
 * expired. {@link PartLayout} explains the incarnation.
 */
public final class ValueLayout {
  public static final byte WHOLE = 0;
  public static final byte PIECES = 1;
  public static final int TAG_AT = 0;
  public static final int TAG_BYTES = 1;
  static final int LENGTH_AT = PartLayout.HEAD_INCARNATION_AT + PartLayout.INCARNATION_BYTES;
  public static final int START_AT = LENGTH_AT + Integer.BYTES;
  public static final int START_BYTES = Long.BYTES;
  public static final int PIECE_START_AT = PartLayout.INCARNATION_BYTES;

  /** Length of a piece's header. */
  public static final int PIECE_HEAD_BYTES = PIECE_START_AT + START_BYTES;

  private ValueLayout() {}

  /** The value's length, from the head record of a value in pieces. */
  public static int lengthInPieces(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start + LENGTH_AT);
  }

  /** Number of bytes of the value in one piece. */
  static int pieceBytes(int recordLimit) {
    return recordLimit - PIECE_HEAD_BYTES;
  }

  public static int pieces(int length, int recordLimit) {
    return Math.ceilDiv(length, pieceBytes(recordLimit));
  }
}
