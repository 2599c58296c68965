package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * Copies buckets out of a live table and into an empty one. The image shows the index as it was at
 * a cut of the log, although the index goes on changing while it is copied: an entry never moves,
 * and the records below the cut that its chain has are the same for ever, so each entry is led back
 * to the newest of those. Claims are left out, and so are links to overflow buckets that were
 * handed out after the copy began: they hold nothing from before the cut.
 */
public final class IndexImage {
  /** Size of a bucket, in memory and in an image. */
  public static final int BUCKET_BYTES = BucketLayout.BYTES;

  private final IndexTable table;

  /** Overflow buckets that something was found to lead to; a bit for 64 bytes of the index. */
  private final BitSet linked = new BitSet();

  /** Leads a chain back: from its newest record to its newest record below the cut. */
  @FunctionalInterface
  public interface Rewind {
    /** The newest address below the cut in the chain that begins at {@code address}, or 0. */
    long rewind(long address);
  }

  public IndexImage(IndexTable table) {
    this.table = table;
  }

  /** Copies buckets {@code first} and on, as many as {@code target} holds. */
  public void copyOut(long first, MemorySegment target, long bucketsInImage, Rewind rewind) {
    long from = first * BUCKET_BYTES;
    for (long at = 0; at < target.byteSize(); at += Long.BYTES) {
      long word = Words.loadAcquire(table.memory(), from + at);
      boolean isOverflow = (from + at) % BUCKET_BYTES == BucketLayout.OVERFLOW;
      Words.storePlain(target, at, isOverflow ? link(word, bucketsInImage) : entry(word, rewind));
    }
  }

  /**
   * What an image may hold.
   *
   * @param begin entries that lead below it are left out: the log has dropped their chains
   * @param end no entry leads to it or above
   * @param buckets how many the whole image has
   */
  public record Limits(long begin, long end, long buckets) {}

  /**
   * Copies buckets of an image into an index that nobody uses yet; {@code source} may change.
   * Returns the offset in {@code source} of the first word that cannot be right, or -1 if there is
   * none: a link must lead to an overflow bucket of the image to which no other does, so chains of
   * buckets end.
   */
  public long copyIn(long first, MemorySegment source, Limits limits) {
    long bytes = source.byteSize();
    long entries = 0;
    for (long bucket = 0; bucket < bytes; bucket += BUCKET_BYTES) {
      for (int i = 0; i < BucketLayout.ENTRIES; i++) {
        long at = bucket + (long) i * Long.BYTES;
        long word = Words.loadPlain(source, at);
        if (word != 0) {
          if (!isEntry(word, limits)) {
            return at;
          }
          if (BucketLayout.address(word) < limits.begin) {
            Words.storePlain(source, at, 0);
          } else {
            entries++;
          }
        }
      }
      long link = Words.loadPlain(source, bucket + BucketLayout.OVERFLOW);
      if (link != 0 && !takeLink(link, first + bucket / BUCKET_BYTES, limits)) {
        return bucket + BucketLayout.OVERFLOW;
      }
    }
    // One copy of all is much faster than a word at a time.
    MemorySegment.copy(source, 0, table.memory(), first * BUCKET_BYTES, bytes);
    table.countEntries(entries);
    return -1;
  }

  private static boolean isEntry(long word, Limits limits) {
    return !BucketLayout.isTentative(word)
        && BucketLayout.isOccupied(word)
        && BucketLayout.address(word) < limits.end
        && BucketLayout.address(word) % Long.BYTES == 0;
  }

  private boolean takeLink(long word, long bucket, Limits limits) {
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
    if (next < table.mainBuckets() || next >= limits.buckets) {
      return false;
    }
    int number = Math.toIntExact(next - table.mainBuckets());
    boolean isFirst = !linked.get(number);
    linked.set(number);
    return isFirst;
  }

  private static long entry(long word, Rewind rewind) {
    if (word == 0 || BucketLayout.isTentative(word)) {
      return 0;
    }
    long address = rewind.rewind(BucketLayout.address(word));
    return address == 0 ? 0 : BucketLayout.withAddress(word, address);
  }

  private static long link(long word, long bucketsInImage) {
    boolean isInside = BucketLayout.nextBucket(word) < bucketsInImage;
    return isInside ? BucketLayout.withoutLatch(word) : word & BucketLayout.SATURATED;
  }
}
