package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * An image of the index that is read into a table which nobody uses yet: says whether its words can
 * be right, and counts them in. Safe for all threads, each with buckets of its own.
 *
 * <p>There are as many words as the index has, and nearly all are free entries, entries that are
 * right, and links to nothing. Those are told by arithmetic without a branch, a bucket at a time;
 * only what is left is looked at word by word.
 */
public final class LoadedImage {
  private static final long SIGN = 1L << 63;
  private static final int MISALIGNED = Long.BYTES - 1;

  private final IndexTable table;
  private final Limits limits;

  /** Overflow buckets that something was found to lead to; a bit for 64 bytes of the index. */
  private final AtomicLongArray linked;

  /**
   * What an image may hold.
   *
   * @param begin entries that lead below it are left out: the log has dropped their chains
   * @param end no entry leads to it or above
   * @param buckets how many the whole image has
   */
  public record Limits(long begin, long end, long buckets) {}

  public LoadedImage(IndexTable table, Limits limits) {
    this.table = table;
    this.limits = limits;
    long overflow = limits.buckets - table.mainBuckets();
    linked = new AtomicLongArray(Math.toIntExact(overflow / Long.SIZE + 1));
  }

  /**
   * Checks some buckets and leaves out entries that lead below the begin. Returns the offset in
   * {@code buckets} of the first word that cannot be right, or -1 if there is none: a link must
   * lead to an overflow bucket of the image to which no other does, so chains of buckets end.
   *
   * @param first the number of the first bucket
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

  /** How many entries a bucket has that needs no closer look; -1 if it does. */
  private int plainEntries(MemorySegment buckets, long bucket) {
    long begin = limits.begin;
    long last = limits.end - 1;
    long odd = Words.loadPlain(buckets, bucket + BucketLayout.OVERFLOW);
    int entries = 0;
    for (int i = 0; i < BucketLayout.ENTRIES; i++) {
      long word = Words.loadPlain(buckets, bucket + (long) i * Long.BYTES);
      long address = BucketLayout.address(word);
      // All ones but for a free entry.
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
    boolean isClean = (word & ~(BucketLayout.SATURATED | next)) == 0;
    if (!isClean || (BucketLayout.isSaturated(word) && !isMain)) {
      return false;
    }
    if (BucketLayout.isSaturated(word)) {
      table.countSaturated();
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
