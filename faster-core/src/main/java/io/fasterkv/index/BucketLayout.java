package io.fasterkv.index;

import io.fasterkv.record.Address;
import io.fasterkv.record.HashTag;

/**
 * A bucket of the hash index: one cache line (SIGMOD'18, section 3.1).
 *
 * <pre>
 *   0       8              48      56         64
 *   +-------+-- ... -------+-------+----------+
 *   | entry | entries 1..5 | entry | overflow |
 *   +-------+-- ... -------+-------+----------+
 *
 *   entry:     63         62        61..48  47..0
 *              TENTATIVE  OCCUPIED  tag     address of the newest record
 *   overflow:  63         62        56         55..40                  39..0
 *              SATURATED  REOPENED  EXCLUSIVE  shared latches' holders  number of the next bucket,
 *                                                                      0 for none
 * </pre>
 *
 * A zero entry is free. SATURATED, REOPENED and the latch are used only in main buckets. The latch
 * is used only during a version shift; see {@link BucketLatch}.
 */
final class BucketLayout {
  static final int BYTES = 64;
  static final int ENTRIES = 7;
  static final long OVERFLOW = 56;

  static final long TENTATIVE = 1L << 63;
  static final long OCCUPIED = 1L << 62;
  static final int TAG_BITS = HashTag.BITS;
  private static final long TAG_MASK = ((1L << TAG_BITS) - 1) << Address.BITS;
  private static final long IDENTITY = OCCUPIED | TAG_MASK;

  /** Moves a tag from the top of a word to its place in an entry. */
  private static final int HASH_SHIFT = Long.SIZE - TAG_BITS - Address.BITS;

  static final long SATURATED = 1L << 63;
  static final long REOPENED = 1L << 62;
  static final long EXCLUSIVE = 1L << 56;
  static final long SHARED_ONE = 1L << 40;
  static final long SHARED_MASK = 0xFFFFL << 40;
  private static final long NEXT_MASK = (1L << 40) - 1;

  static {
    if (OVERFLOW != (long) ENTRIES * Long.BYTES || OVERFLOW + Long.BYTES != BYTES) {
      throw new AssertionError("a bucket is not a cache line");
    }
  }

  private BucketLayout() {}

  /** An entry without an address for the {@link HashTag} of {@code hash}. */
  static long entry(long hash, long base) {
    return OCCUPIED | (hash * base >>> HASH_SHIFT & TAG_MASK);
  }

  /** An entry without an address for a tag. */
  static long entryOf(long tag) {
    return OCCUPIED | tag << Address.BITS;
  }

  static long withAddress(long entry, long address) {
    return (entry & IDENTITY) | address;
  }

  static long address(long entry) {
    return entry & Address.MASK;
  }

  static long tag(long entry) {
    return (entry & TAG_MASK) >>> Address.BITS;
  }

  /** Whether both are occupied with the same tag; tentative or not. */
  static boolean sameTag(long entry, long other) {
    return ((entry ^ other) & IDENTITY) == 0;
  }

  static boolean isOccupied(long entry) {
    return (entry & OCCUPIED) != 0;
  }

  static boolean isTentative(long entry) {
    return (entry & TENTATIVE) != 0;
  }

  static long nextBucket(long overflow) {
    return overflow & NEXT_MASK;
  }

  /** An overflow word without the latch. */
  static long withoutLatch(long overflow) {
    return overflow & ~(EXCLUSIVE | SHARED_MASK);
  }

  static boolean isSaturated(long overflow) {
    return (overflow & SATURATED) != 0;
  }

  /** Whether the chain is saturated, and tags may get entries of their own again. */
  static boolean isReopened(long overflow) {
    return (overflow & REOPENED) != 0;
  }

  /** The entry that a tag shares if its bucket has no room for another one. */
  static int sharedEntry(long tag) {
    return (int) (tag % ENTRIES);
  }
}
