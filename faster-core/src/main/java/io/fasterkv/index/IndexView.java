package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Reads one {@link IndexTable} and changes nothing: for those who look up many hashes and only care
 * for entries that are there. A record, so that a constant view is constant through and through for
 * the compiler.
 *
 * <p>Entries are read with acquire, so that the record an entry leads to is complete. Unlike {@link
 * IndexTable#find}, this never concludes that a tag is absent, so it does not take part in the
 * order of claims and saturation.
 *
 * @param table what the view is of; compare it by identity with {@link HashIndex#stableTable()}
 *     after protecting, before the memory is touched
 */
public record IndexView(IndexTable table, MemorySegment memory, long mainBuckets) {
  private static final int TAG_SHIFT = Long.SIZE - BucketLayout.TAG_BITS - 2;

  public static IndexView of(IndexTable table) {
    return new IndexView(table, table.memory(), table.mainBuckets());
  }

  /** Where the bucket of a hash begins. */
  public long bucket(long hash) {
    return Math.unsignedMultiplyHigh(hash, mainBuckets) * BucketLayout.BYTES;
  }

  /** Brings a bucket into the cache; returns anything. */
  public long touch(long bucket) {
    return Words.loadPlain(memory, bucket);
  }

  /** The newest address under a hash's own entry; 0 if that was not found at once. */
  public long address(long bucket, long hash) {
    return BucketLayout.address(find(bucket, BucketLayout.entry(hash) >>> TAG_SHIFT));
  }

  /** A confirmed entry, by its upper bits; 0 if there is none. */
  private long find(long bucket, long wanted) {
    long word = Words.loadAcquire(memory, bucket);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    word = Words.loadAcquire(memory, bucket + 8);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    word = Words.loadAcquire(memory, bucket + 16);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    word = Words.loadAcquire(memory, bucket + 24);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    return findInRest(bucket, wanted);
  }

  private long findInRest(long main, long wanted) {
    long first = main + 32;
    for (long bucket = main; bucket >= 0; bucket = next(bucket)) {
      for (long at = first; at < bucket + BucketLayout.OVERFLOW; at += Long.BYTES) {
        long word = Words.loadAcquire(memory, at);
        if (word >>> TAG_SHIFT == wanted) {
          return word;
        }
      }
      first = next(bucket);
    }
    return 0;
  }

  private long next(long bucket) {
    long word = Words.loadAcquire(memory, bucket + BucketLayout.OVERFLOW);
    long number = BucketLayout.nextBucket(word);
    return number == OverflowBuckets.NONE ? -1 : number * BucketLayout.BYTES;
  }
}
