package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;

/**
 * The shape of an ordered set of byte strings: a B+ tree of blocks, each a record.
 *
 * <pre>
 *   root, under sub number 0
 *   | level: 1 | last block: 4 | entries ... |
 *
 *   block i, under sub number i; an empty block has no record
 *   | level: 1 | entries ... |
 *
 *   entry of a leaf (level 0)
 *   | length: 1 | order key |
 *
 *   entry of an inner block
 *   | length: 1 | separator | child: 4 |
 * </pre>
 *
 * <p>Entries are in the order of their bytes, as unsigned numbers. A leaf holds order keys. An
 * inner block's entry leads to the block with the order keys from its separator on, up to the next
 * separator; the first entry's separator is empty, and stands for all that is smaller.
 *
 * <p>The <em>order key</em> of an element is the element itself if it is shorter than {@link
 * #LONG_BYTES}. The order key of a longer one has exactly that length: its first {@link
 * #LONG_PREFIX_BYTES} bytes and its SHA-256. The element then is a single value, shaped as {@link
 * ValueLayout} draws it, whose key is the SHA-256. So long elements with the same first bytes are
 * in no particular order, and equal ones are one.
 *
 * <p>"Last block" is the block number that was given out last. Numbers are given out in turn, and
 * when they are used up, from 1 on where free.
 */
public final class TreeLayout {
  public static final int LEVEL_AT = 0;
  public static final byte LEAF = 0;

  /** Length of the order key of elements that are this long or longer. */
  public static final int LONG_BYTES = 255;

  static final int DIGEST_BYTES = 32;
  static final int LONG_PREFIX_BYTES = LONG_BYTES - DIGEST_BYTES;
  static final int ROOT = 0;
  static final int LAST_BLOCK_AT = 1;
  static final int LENGTH_BYTES = 1;
  static final int CHILD_BYTES = Integer.BYTES;

  /** A longer block is split. */
  private static final int BLOCK_BYTES = 1 << 10;

  private static final int LEAST_ROOM = 64;

  /** More levels than two billion blocks of two entries each can have. */
  static final int MOST_LEVELS = 32;

  private TreeLayout() {}

  /** Where the first entry of a block lies. */
  public static int firstEntryAt(int block) {
    return block == ROOT ? LAST_BLOCK_AT + Integer.BYTES : LAST_BLOCK_AT;
  }

  /** Whether a record key of a timer queue is a block's, and not one of a long element. */
  static boolean isBlock(ByteSpan key) {
    return key.getByte(KeyLayout.KEY_LENGTH_AT) != DIGEST_BYTES;
  }

  /** Whether this length is that of a long element's order key. */
  public static boolean isLong(int length) {
    return length == LONG_BYTES;
  }

  /** The longest block; four of the longest entries fit. */
  static int blockLimit(int recordLimit) {
    return Math.min(recordLimit, BLOCK_BYTES);
  }

  /** A shorter leaf is merged with a neighbour, if that has room. */
  static int sparse(int blockLimit) {
    return blockLimit / 4;
  }

  /** Two neighbours of together at most this length are merged. */
  static int merged(int blockLimit) {
    return blockLimit / 4 * 3;
  }

  /** Room of a block that has outgrown its record: twice its length, so that it seldom moves. */
  static int room(int length, int blockLimit) {
    return Math.max(length, Math.min(blockLimit, Math.max(2 * length, LEAST_ROOM)));
  }
}
