package io.fasterkv.flink.records.list;

import io.fasterkv.flink.records.base.Numbers;
import io.fasterkv.flink.records.base.PartLayout;

/**
 * The shape of a list.
 *
 * <pre>
 *   head record (sub number 0)
 *   | INLINE  | elements ...                |
 *   | CHUNKED | incarnation: 8 | last chunk: 4 |   and chunks under sub numbers 1 to the last
 *
 *   chunk
 *   | incarnation: 8 | ENDS      | elements ...  |   ends with the end of an element
 *   | incarnation: 8 | CONTINUES | element ...   |   which goes on in the next chunk
 *   | incarnation: 8 | WITHIN + ENDS or CONTINUES | start: 8 | the element goes on ... |
 * </pre>
 *
 * <p>Elements are separated by a comma, as in Flink's savepoint format; there is no comma between a
 * chunk that ends with an element and the next chunk. A short list is inline. When it outgrows
 * {@link #INLINE_BYTES}, its elements move to chunk 1. Chunks double in size up to {@link
 * #CHUNK_BYTES}. An element too large for one chunk takes several chunks of its own; "start" is the
 * element's first eight bytes. Where elements expire, these bytes are the timestamp. Compaction
 * then drops the first elements of records, single chunks, and the head after the last chunk. So a
 * missing chunk has expired, and so has an element with a missing chunk. An append touches the
 * head, to find the last chunk, and that chunk. {@link PartLayout} explains the incarnation.
 */
public final class ListLayout {
  public static final byte INLINE = 0;
  public static final byte CHUNKED = 1;
  public static final byte ENDS = 0;
  public static final byte CONTINUES = 1;
  public static final byte WITHIN = 2;
  public static final int START_BYTES = Long.BYTES;

  /** Position of the tag in a head, and in a chunk without its incarnation. */
  public static final int TAG_AT = 0;

  public static final int TAG_BYTES = 1;
  public static final int CHUNK_TAG_AT = PartLayout.INCARNATION_BYTES;

  /** Position of the elements in a chunk, or of the start. */
  public static final int CHUNK_HEAD_BYTES = CHUNK_TAG_AT + TAG_BYTES;

  public static final byte SEPARATOR = ',';
  public static final int LAST_CHUNK_AT =
      PartLayout.HEAD_INCARNATION_AT + PartLayout.INCARNATION_BYTES;
  static final int INLINE_BYTES = 2 << 10;
  public static final int CHUNK_BYTES = 4 << 10;

  private ListLayout() {}

  /** Whether a chunk's last element continues in the next chunk. */
  public static boolean isContinued(int tag) {
    return (tag & CONTINUES) != 0;
  }

  /** Whether a chunk begins within an element. */
  public static boolean isWithin(int tag) {
    return (tag & WITHIN) != 0;
  }

  /** Number of bytes before the elements of a chunk. */
  public static int headBytes(int tag) {
    return isWithin(tag) ? CHUNK_HEAD_BYTES + START_BYTES : CHUNK_HEAD_BYTES;
  }

  /** Number of the last chunk, from the head record of a list in chunks. */
  public static int lastChunk(byte[] bytes, int start) {
    return Numbers.getInt(bytes, start + LAST_CHUNK_AT);
  }

  /**
   * Limit of an inline list. A list that would exceed it moves to a chunk, which takes that many
   * bytes more.
   */
  static int inlineLimit(int recordLimit) {
    return Math.min(INLINE_BYTES, recordLimit - PartLayout.INCARNATION_BYTES);
  }

  /** Capacity of a new chunk. */
  public static int chunkBytes(int chunk, int recordLimit) {
    int doublings = Math.min(chunk, Integer.numberOfTrailingZeros(CHUNK_BYTES / INLINE_BYTES));
    return Math.min(INLINE_BYTES << doublings, recordLimit);
  }
}
