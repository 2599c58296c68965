package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Copies buckets out of a live table. The image shows the index as it was at a cut of the log,
 * although the index goes on changing while it is copied: an entry never moves, and the records
 * below the cut that its chain has are the same for ever, so each entry is led back to the newest
 * of those. Claims are left out, and so are links to overflow buckets that were handed out after
 * the copy began: they hold nothing from before the cut.
 */
public final class IndexImage {
  /** Size of a bucket, in memory and in an image. */
  public static final int BUCKET_BYTES = BucketLayout.BYTES;

  private final IndexTable table;

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
