package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Copies buckets out of a live index and into an empty one (SIGMOD'18, section 6.5). The image is
 * fuzzy: each word is from some moment during the copy. Claims are left out, and so are links to
 * overflow buckets that were handed out after the copy of those began; what they held is in the log
 * after the address where the copy began.
 */
public final class IndexImage {
  /** Size of a bucket, in memory and in an image. */
  public static final int BUCKET_BYTES = BucketLayout.BYTES;

  private final HashIndex index;

  public IndexImage(HashIndex index) {
    this.index = index;
  }

  /** Copies buckets {@code first} and on, as many as {@code target} holds. */
  public void copyOut(long first, MemorySegment target, long bucketsInImage) {
    long from = first * BUCKET_BYTES;
    for (long at = 0; at < target.byteSize(); at += Long.BYTES) {
      long word = Words.loadAcquire(index.memory(), from + at);
      boolean isOverflow = (from + at) % BUCKET_BYTES == BucketLayout.OVERFLOW;
      Words.storePlain(target, at, isOverflow ? link(word, bucketsInImage) : entry(word));
    }
  }

  /** Copies buckets of an image into an index that nobody uses yet. */
  public void copyIn(long first, MemorySegment source) {
    MemorySegment.copy(source, 0, index.memory(), first * BUCKET_BYTES, source.byteSize());
  }

  private static long entry(long word) {
    return BucketLayout.isTentative(word) ? 0 : word;
  }

  private static long link(long word, long bucketsInImage) {
    boolean isInside = BucketLayout.nextBucket(word) < bucketsInImage;
    return isInside ? word : word & BucketLayout.SATURATED;
  }
}
