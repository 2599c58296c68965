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
  public interface Rewind {
    /** The newest address below the cut in the chain that begins at {@code address}, or 0. */
    long rewind(long address);

    /** A chain that begins below this leads to nothing, and is led back to 0. */
    long settledFrom();

    /** A chain that begins below this, and not below {@link #settledFrom}, is as it was. */
    long settledUntil();
  }

  public IndexImage(IndexTable table) {
    this.table = table;
  }

  /** Copies buckets {@code first} and on, as many as {@code target} holds. */
  public void copyOut(long first, MemorySegment target, long bucketsInImage, Rewind rewind) {
    long from = first * BUCKET_BYTES;
    long settledFrom = rewind.settledFrom();
    long settledUntil = rewind.settledUntil();
    for (long to = 0; to < target.byteSize(); to += BUCKET_BYTES) {
      if (!copySettled(from + to, target, to, settledFrom, settledUntil)) {
        copyEach(from + to, target, to, rewind);
      }
      long overflow = Words.loadAcquire(table.memory(), from + to + BucketLayout.OVERFLOW);
      Words.storePlain(target, to + BucketLayout.OVERFLOW, link(overflow, bucketsInImage));
    }
  }

  /**
   * Copies the entries of a bucket without a branch for each, which a processor cannot foresee.
   * False, and nothing that counts, if one is a claim or must be led back. No record is looked at,
   * so the order of loads does not matter.
   */
  private boolean copySettled(
      long from, MemorySegment target, long to, long settledFrom, long settledUntil) {
    long exceptions = 0;
    for (long at = 0; at < BucketLayout.OVERFLOW; at += Long.BYTES) {
      long word = Words.loadPlain(table.memory(), from + at);
      long address = BucketLayout.address(word);
      // The sign says so: a claim has its bit there, and the rest is negative from the end on.
      exceptions |= word | (settledUntil - 1 - address);
      long kept = ~(address - settledFrom >> (Long.SIZE - 1));
      Words.storePlain(target, to + at, word & kept);
    }
    return exceptions >= 0;
  }

  private void copyEach(long from, MemorySegment target, long to, Rewind rewind) {
    for (long at = 0; at < BucketLayout.OVERFLOW; at += Long.BYTES) {
      long word = Words.loadAcquire(table.memory(), from + at);
      Words.storePlain(target, to + at, entry(word, rewind));
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
