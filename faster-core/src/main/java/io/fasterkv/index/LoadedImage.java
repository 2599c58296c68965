package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Checks an index image while it is read into a table that no thread uses yet, and counts its
 * entries. Safe for all threads, each with buckets of its own.
 *
 * <p>There are as many words as the index has, and nearly all are free entries, valid entries, and
 * empty links. Arithmetic without a branch recognizes those, a bucket at a time; only other buckets
 * are checked word by word.
 */
public final class LoadedImage {
  private static final long SIGN = 1L << 63;
  private static final int MISALIGNED = Long.BYTES - 1;

  private final IndexTable table;
  private final Limits limits;

  /** One bit for each overflow bucket: whether a link to it was found. */
  private final AtomicLongArray linked;

  /**
   * The limits of an image.
   *
   * @param begin entries that lead below it are dropped: the log has dropped their chains
   * @param end no entry leads to or above it
   * @param buckets number of buckets in the whole image
   */
  public record Limits(long begin, long end, long buckets) {}

  public LoadedImage(IndexTable table, Limits limits) {
    this.table = table;
    this.limits = limits;
    long overflow = limits.buckets - table.mainBuckets();
    linked = new AtomicLongArray(Math.toIntExact(overflow / Long.SIZE + 1));
  }

  /**
   * Checks some buckets and drops entries that lead below the begin address. Returns the offset in
   * {@code buckets} of the first invalid word, or -1 if there is none. A link must lead to an
   * overflow bucket of the image to which no other link leads, so chains of buckets end.
   *
   * @param first number of the first bucket
   * @param buckets their place in the table
   */
  public long check(long first, MemorySegment buckets) {
    long entries = 0;
    for (long at = 0; at < buckets.byteSize(); at += BucketLayout.BYTES) {
      int found = plainEntries(buckets, at);
      if (found < 0) {
        long wrong = checkWords(first + at / BucketLayout.BYTES, buckets, at);
        if (wrong >= 0) {
          return wrong;
        }
        found = countEntries(buckets, at);
      }
      entries += found;
    }
    table.countEntries(entries);
    return -1;
  }

  /** Number of entries in a bucket without unusual words; -1 if it has any. */
  private int plainEntries(MemorySegment buckets, long bucket) {
    long begin = limits.begin;
    long last = limits.end - 1;
    long odd = Words.loadPlain(buckets, bucket + BucketLayout.OVERFLOW);
    int entries = 0;
    for (int i = 0; i < BucketLayout.ENTRIES; i++) {
      long word = Words.loadPlain(buckets, bucket + (long) i * Long.BYTES);
      long address = BucketLayout.address(word);
      // All ones unless the entry is free.
      long isTaken = (word | -word) >> (Long.SIZE - 1);
      long state =
          (word ^ BucketLayout.OCCUPIED) & (BucketLayout.OCCUPIED | BucketLayout.TENTATIVE);
      long outside = ((last - address) | (address - begin)) & SIGN;
      odd |= isTaken & (state | outside | (address & MISALIGNED));
      entries -= (int) isTaken;
    }
    return odd == 0 ? entries : -1;
  }

  private long checkWords(long bucket, MemorySegment buckets, long from) {
    for (long at = from; at < from + BucketLayout.OVERFLOW; at += Long.BYTES) {
      long word = Words.loadPlain(buckets, at);
      if (word != 0 && !isEntry(word)) {
        return at;
      }
      if (BucketLayout.address(word) < limits.begin) {
        Words.storePlain(buckets, at, 0);
      }
    }
    long link = Words.loadPlain(buckets, from + BucketLayout.OVERFLOW);
    return link == 0 || takeLink(link, bucket) ? -1 : from + BucketLayout.OVERFLOW;
  }

  private static int countEntries(MemorySegment buckets, long from) {
    int entries = 0;
    for (long at = from; at < from + BucketLayout.OVERFLOW; at += Long.BYTES) {
      entries += Words.loadPlain(buckets, at) == 0 ? 0 : 1;
    }
    return entries;
  }

  private boolean isEntry(long word) {
    return !BucketLayout.isTentative(word)
        && BucketLayout.isOccupied(word)
        && BucketLayout.address(word) < limits.end
        && BucketLayout.address(word) % Long.BYTES == 0;
  }

  private boolean takeLink(long word, long bucket) {
    long next = BucketLayout.nextBucket(word);
    boolean isMain = bucket < table.mainBuckets();
    long marks = word & ~next;
    boolean isClean =
        marks == 0
            || marks == BucketLayout.SATURATED
            || marks == (BucketLayout.SATURATED | BucketLayout.REOPENED);
    if (!isClean || (BucketLayout.isSaturated(word) && !isMain)) {
      return false;
    }
    if (BucketLayout.isSaturated(word)) {
      table.countSaturated(BucketLayout.isReopened(word));
    }
    if (BucketLayout.isReopened(word)) {
      table.inheritBelow(limits.end);
    }
    if (next == OverflowBuckets.NONE) {
      return true;
    }
    return next >= table.mainBuckets() && next < limits.buckets && isFirstLinkTo(next);
  }

  private boolean isFirstLinkTo(long next) {
    long number = next - table.mainBuckets();
    long bit = 1L << number;
    int word = (int) (number / Long.SIZE);
    return (linked.getAndAccumulate(word, bit, (bits, more) -> bits | more) & bit) == 0;
  }
}
