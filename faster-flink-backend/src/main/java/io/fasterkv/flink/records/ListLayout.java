package io.fasterkv.flink.records;

/**
 * The shape of a list.
 *
 * <pre>
 *   head record (sub number 0)
 *   | INLINE  | elements ...                |
 *   | CHUNKED | identity: 8 | last chunk: 4 |   and chunks under sub numbers 1 to the last
 *
 *   chunk
 *   | identity: 8 | ENDS      | elements ...  |   ends with the end of an element
 *   | identity: 8 | CONTINUES | element ...   |   which goes on in the next chunk
 *   | identity: 8 | WITHIN + ENDS or CONTINUES | start: 8 | the element goes on ... |
 * </pre>
 *
 * <p>Elements are separated by a comma, as Flink's savepoint format has it; between a chunk that
 * ends with an element and its successor the comma is left out. A short list is inline. When it
 * outgrows {@link #INLINE_BYTES}, its elements move to chunk 1; chunks double in size up to {@link
 * #CHUNK_BYTES}. An element that fits no chunk has several by itself; the start is its first eight
 * bytes. Where elements expire that is their timestamp, and compaction drops the first elements of
 * records, chunks one by one, and the head behind the last of them: a chunk that is missing, and an
 * element of which one is, has expired. An append touches the head, to learn the last chunk, and
 * that chunk. What the identity is for {@link PartLayout} says.
 */
public final class ListLayout {
  public static final byte INLINE = 0;
  public static final byte CHUNKED = 1;
  public static final byte ENDS = 0;
  public static final byte CONTINUES = 1;
  public static final byte WITHIN = 2;
  public static final int START_BYTES = Long.BYTES;

  /** Where a head has its tag, and a chunk without its identity. */
  public static final int TAG_AT = 0;

  public static final int TAG_BYTES = 1;
  public static final int CHUNK_TAG_AT = PartLayout.IDENTITY_BYTES;

  /** Where the elements of a chunk begin, or the start. */
  public static final int CHUNK_HEAD_BYTES = CHUNK_TAG_AT + TAG_BYTES;

  public static final byte SEPARATOR = ',';
  static final int LAST_CHUNK_AT = PartLayout.HEAD_IDENTITY_AT + PartLayout.IDENTITY_BYTES;
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
    return isWithin(tag) ? CHUNK_HEAD_BYTES + START_BYTES : CHUNK_HEAD_BYTES;
  }

  /** Number of the last chunk, from the head record of a list in chunks. */
  public static int lastChunk(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start + LAST_CHUNK_AT);
  }

  /** An inline list that would get longer moves to a chunk, which has as many bytes more. */
  static int inlineLimit(int recordLimit) {
    return Math.min(INLINE_BYTES, recordLimit - PartLayout.IDENTITY_BYTES);
  }

  /** Room of a new chunk. */
  static int chunkBytes(int chunk, int recordLimit) {
    int doublings = Math.min(chunk, Integer.numberOfTrailingZeros(CHUNK_BYTES / INLINE_BYTES));
    return Math.min(INLINE_BYTES << doublings, recordLimit);
  }
}
