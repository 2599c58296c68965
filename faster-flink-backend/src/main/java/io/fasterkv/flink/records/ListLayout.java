package io.fasterkv.flink.records;

/**
 * The shape of a list.
 *
 * <pre>
 *   head record (sub number 0)
 *   | INLINE  | elements ...    |
 *   | CHUNKED | last chunk: 4   |   and chunks under sub numbers 1 to the last
 *
 *   chunk
 *   | ENDS      | elements ...  |   ends with the end of an element
 *   | CONTINUES | element ...   |   which goes on in the next chunk
 *   | WITHIN + ENDS or CONTINUES | start: 8 | the element goes on ... |
 * </pre>
 *
 * <p>Elements are separated by a comma, as Flink's savepoint format has it; between a chunk that
 * ends with an element and its successor the comma is left out. A short list is inline. When it
 * outgrows {@link #INLINE_BYTES}, its elements move to chunk 1; chunks double in size up to {@link
 * #CHUNK_BYTES}. An element that fits no chunk has several by itself; the start is its first eight
 * bytes. Where elements expire that is their timestamp, and compaction drops chunks one by one: a
 * chunk that is missing, and an element of which one is, has expired. An append touches the head,
 * to learn the last chunk, and that chunk.
 */
public final class ListLayout {
  public static final byte INLINE = 0;
  public static final byte CHUNKED = 1;
  public static final byte ENDS = 0;
  public static final byte CONTINUES = 1;
  public static final byte WITHIN = 2;
  public static final int START_BYTES = Long.BYTES;
  public static final int TAG_AT = 0;
  public static final int TAG_BYTES = 1;
  public static final byte SEPARATOR = ',';
  static final int LAST_CHUNK_AT = TAG_BYTES;
  static final int CHUNKED_HEAD_BYTES = LAST_CHUNK_AT + Integer.BYTES;
  static final int INLINE_BYTES = 2 << 10;
  static final int CHUNK_BYTES = 4 << 10;

  private ListLayout() {}

  /** Whether a chunk's last element goes on in the next chunk. */
  public static boolean goesOn(int tag) {
    return (tag & CONTINUES) != 0;
  }

  /** Whether a chunk begins within an element. */
  public static boolean isWithin(int tag) {
    return (tag & WITHIN) != 0;
  }

  /** How many bytes of a chunk are before its elements. */
  public static int headBytes(int tag) {
    return isWithin(tag) ? TAG_BYTES + START_BYTES : TAG_BYTES;
  }

  /** Number of the last chunk, from the head record of a list in chunks. */
  public static int lastChunk(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start + LAST_CHUNK_AT);
  }

  /** Room of a new chunk. */
  static int chunkBytes(int chunk, int recordLimit) {
    int doublings = Math.min(chunk, Integer.numberOfTrailingZeros(CHUNK_BYTES / INLINE_BYTES));
    return Math.min(INLINE_BYTES << doublings, recordLimit);
  }
}
