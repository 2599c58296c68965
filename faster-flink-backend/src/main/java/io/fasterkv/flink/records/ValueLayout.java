package io.fasterkv.flink.records;

/**
 * The shape of a single value: value, reducing and aggregating state.
 *
 * <pre>
 *   head record (sub number 0)
 *   | WHOLE  | value ...                            |
 *   | PIECES | identity: 8 | length: 4 | start: 8 |    and pieces under sub numbers 1, 2, ...
 *
 *   piece
 *   | identity: 8 | start: 8 | bytes of the value |    all but the last as long as a record may be
 * </pre>
 *
 * <p>The start is the first eight bytes of the value. Where values expire that is their timestamp,
 * and compaction drops head and pieces one by one: a value of which any is missing has expired.
 * What the identity is for {@link PartLayout} says.
 */
public final class ValueLayout {
  public static final byte WHOLE = 0;
  public static final byte PIECES = 1;
  public static final int TAG_AT = 0;
  public static final int TAG_BYTES = 1;
  static final int LENGTH_AT = PartLayout.HEAD_IDENTITY_AT + PartLayout.IDENTITY_BYTES;
  public static final int START_AT = LENGTH_AT + Integer.BYTES;
  public static final int START_BYTES = Long.BYTES;
  public static final int PIECE_START_AT = PartLayout.IDENTITY_BYTES;

  /** A piece has so many bytes of its own. */
  public static final int PIECE_HEAD_BYTES = PIECE_START_AT + START_BYTES;

  private ValueLayout() {}

  /** The value's length, from the head record of a value in pieces. */
  public static int lengthInPieces(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start + LENGTH_AT);
  }

  /** How many bytes of the value a piece has. */
  static int pieceBytes(int recordLimit) {
    return recordLimit - PIECE_HEAD_BYTES;
  }

  static int pieces(int length, int recordLimit) {
    return Math.ceilDiv(length, pieceBytes(recordLimit));
  }
}
