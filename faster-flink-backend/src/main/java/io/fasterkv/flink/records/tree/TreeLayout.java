package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import io.fasterkv.flink.records.base.ValueLayout;

/**
 * Draws an ordered set of byte strings: a B+ tree of blocks, each a record.
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
 * <p>Entries are ordered by their bytes as unsigned numbers. A leaf holds order keys. An inner
 * block's entry refers to the block with the order keys from its separator up to the next
 * separator. The first entry's separator is empty and covers all smaller keys.
 *
 * <p>The <em>order key</em> of an element is the element itself if it is shorter than {@link
 * #LONG_BYTES}. The order key of a longer one has exactly that length: its first {@link
 * #LONG_PREFIX_BYTES} bytes and its SHA-256. The element itself is then stored as a single value
 * (see {@link ValueLayout}) whose key is the SHA-256. So long elements with the same first bytes
 * are in no particular order, and equal ones are stored once.
 *
 * <p>"Last block" is the block number that was assigned last. Numbers are assigned in ascending
 * order; after the last one, free numbers are reused from 1 on.
 */
public final class TreeLayout {
  public static final int LEVEL_AT = 0;
  public static final byte LEAF = 0;

  /** Length of a long element's order key; elements of this length or more are long. */
  public static final int LONG_BYTES = 255;

  static final int DIGEST_BYTES = 32;
  static final int LONG_PREFIX_BYTES = LONG_BYTES - DIGEST_BYTES;
  static final int ROOT = 0;

  /** The level of the root of an empty set. */
  static final int NO_ROOT = -1;

  static final int LAST_BLOCK_AT = 1;
  static final int LENGTH_BYTES = 1;
  static final int CHILD_BYTES = Integer.BYTES;

  /** Length above which a block is split. */
  private static final int BLOCK_BYTES = 1 << 10;

  private static final int LEAST_ROOM = 64;

  /** More levels than two billion blocks with two entries each can have. */
  static final int MOST_LEVELS = 32;

  private TreeLayout() {}

  /** Position of a block's first entry. */
  public static int firstEntryAt(int block) {
    return block == ROOT ? LAST_BLOCK_AT + Integer.BYTES : LAST_BLOCK_AT;
  }

  /** Whether a record key of a timer queue is a block's, rather than a long element's. */
  public static boolean isBlock(ByteSpan key) {
    return key.getByte(KeyLayout.KEY_LENGTH_AT) != DIGEST_BYTES;
  }

  /** Whether this length is that of a long element's order key. */
  public static boolean isLong(int length) {
    return length == LONG_BYTES;
  }

  /** Maximum length of a block; at least four of the longest entries fit. */
  static int blockLimit(int recordLimit) {
    return Math.min(recordLimit, BLOCK_BYTES);
  }

  /** Minimum length of a leaf; a shorter one is merged with a neighbour that has room. */
  static int sparse(int blockLimit) {
    return blockLimit / 4;
  }

  /** Two neighbours of at most this length together are merged. */
  static int merged(int blockLimit) {
    return blockLimit / 4 * 3;
  }

  /**
   * Capacity of a block that has outgrown its record: twice its length, so that it moves seldom.
   */
  static int room(int length, int blockLimit) {
    return Math.max(length, Math.min(blockLimit, Math.max(2 * length, LEAST_ROOM)));
  }
}
