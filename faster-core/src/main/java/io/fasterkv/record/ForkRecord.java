package io.fasterkv.record;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Splits a chain into two (SIGMOD'18, appendix B: the meta-record of a merge). It has no key and no
 * value; a walk along a chain follows one of its two branches, by the hash it looks for.
 *
 * <pre>
 *   0        8               16       24
 *   +--------+---------------+--------+
 *   | info   | right         | choice |
 *   +--------+---------------+--------+
 *
 *   info:    PRESENT, FORK, 47..0 address of the left chain
 *   right:   63 BY_TAG, 47..0 address of the right chain
 *   choice:  number of main buckets, even: hashes of odd buckets go right, those of even ones left;
 *            BY_TAG: 63..14 the base of a tag, 13..0 the tag: its hashes go right, all others left
 * </pre>
 *
 * It never changes after it was linked into a chain. Both chains are older than the fork. A fork is
 * as long as the header of the smallest record, in either layout.
 */
public final class ForkRecord {
  public static final int BYTES = 24;

  private static final long RIGHT = 8;
  private static final long CHOICE = 16;
  private static final long BY_TAG = 1L << 63;
  private static final long TAG_MASK = (1L << HashTag.BITS) - 1;

  static {
    if (BYTES != LongRecord.BYTES || BYTES != SpanRecord.HEADER_BYTES || CHOICE + 8 != BYTES) {
      throw new AssertionError("a fork is not as large as the smallest record");
    }
  }

  private ForkRecord() {}

  /** Writes a fork between odd and even buckets of a number of main buckets. */
  public static void createByBucket(
      MemorySegment memory, long record, long left, long right, long mainBuckets) {
    create(memory, record, left, right, mainBuckets);
  }

  /** Writes a fork that sends the hashes of one {@link HashTag} right. */
  public static void createByTag(
      MemorySegment memory, long record, long left, long right, long base, long tag) {
    create(memory, record, left, right | BY_TAG, tagChoice(base, tag));
  }

  /** The choice of a fork by a tag. */
  public static long tagChoice(long base, long tag) {
    return base << HashTag.BITS | tag;
  }

  private static void create(
      MemorySegment memory, long record, long left, long right, long choice) {
    Words.storePlain(memory, record + RIGHT, right);
    Words.storePlain(memory, record + CHOICE, choice);
    Words.storeRelease(memory, record, RecordInfo.fork(left));
  }

  /** The base of the tag in a {@link #tagChoice}. */
  public static long tagBase(long choice) {
    return choice >>> HashTag.BITS;
  }

  /** Address where the chain of a hash continues. */
  public static long next(MemorySegment memory, long record, long hash) {
    long choice = Words.loadPlain(memory, record + CHOICE);
    boolean isRight =
        isByTag(memory, record)
            ? HashTag.of(hash, tagBase(choice)) == (choice & TAG_MASK)
            : (Math.unsignedMultiplyHigh(hash, choice) & 1) != 0;
    return isRight ? right(memory, record) : left(memory, record);
  }

  /** Whether the fork chooses by tag rather than by bucket. */
  public static boolean isByTag(MemorySegment memory, long record) {
    return (Words.loadPlain(memory, record + RIGHT) & BY_TAG) != 0;
  }

  /** The number of main buckets, or the {@link #tagChoice}, by which the fork chooses. */
  public static long choice(MemorySegment memory, long record) {
    return Words.loadPlain(memory, record + CHOICE);
  }

  public static long left(MemorySegment memory, long record) {
    return RecordInfo.previousAddress(Words.loadPlain(memory, record));
  }

  public static long right(MemorySegment memory, long record) {
    return Words.loadPlain(memory, record + RIGHT) & Address.MASK;
  }
}
