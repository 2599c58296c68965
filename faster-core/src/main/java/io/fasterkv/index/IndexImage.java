package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Copies buckets from a live table. The image shows the index at a cut of the log although the
 * index changes during the copy: an entry never moves, and the records of its chain below the cut
 * never change, so the image's entry is led back to the newest of those. The copy omits claims, and
 * links to overflow buckets that were allocated after the copy began, since these have nothing from
 * before the cut.
 */
public final class IndexImage {
  /** Size of a bucket in memory and in an image. */
  public static final int BUCKET_BYTES = BucketLayout.BYTES;

  private final IndexTable table;

  /** Leads a chain back from its newest record to its newest record below the cut. */
  public interface Rewind {
    /** The newest address below the cut in the chain that begins at {@code address}, or 0. */
    long rewind(long address);

    /** A chain that begins below this address is empty and is led back to 0. */
    long settledFrom();

    /** A chain that begins below this address, but not below {@link #settledFrom}, is unchanged. */
    long settledUntil();
  }

  public IndexImage(IndexTable table) {
    this.table = table;
  }

  /** Copies as many buckets as {@code target} has room for, starting at {@code first}. */
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
   * Copies the entries of a bucket without a branch for each, since the processor could not predict
   * it. Returns false, and a result that must be ignored, if one is a claim or must be led back. It
   * reads no record, so the order of loads does not matter.
   */
  private boolean copySettled(
      long from, MemorySegment target, long to, long settledFrom, long settledUntil) {
    long exceptions = 0;
    for (long at = 0; at < BucketLayout.OVERFLOW; at += Long.BYTES) {
      long word = Words.loadPlain(table.memory(), from + at);
      long address = BucketLayout.address(word);
      // The sign bit tells: a claim has its bit there, and the difference is negative from the end
      // on.
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
    long marks = word & (BucketLayout.SATURATED | BucketLayout.REOPENED);
    return isInside ? BucketLayout.withoutLatch(word) : marks;
  }
}
