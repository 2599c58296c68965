package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Reads one {@link IndexTable} and changes nothing: for those who look up many hashes and only care
 * for entries that are there. A record, so that a constant view is constant through and through for
 * the compiler.
 *
 * <p>Entries are read plainly and an acquire fence follows, so that the record an entry leads to is
 * complete: an access mode for each entry keeps the compiler from joining the checks of a bucket's
 * entries, and took a quarter of the throughput. An aligned word is read whole on every 64-bit
 * machine. Unlike {@link IndexTable#find}, this never concludes that a tag is absent, so it does
 * not take part in the order of claims and saturation.
 *
 * @param table what the view is of; compare it by identity with {@link HashIndex#quietTable()}
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
  private long find(long main, long wanted) {
    long word = findIn(main, wanted);
    if (word == 0) {
      word = findInOverflow(main, wanted);
    }
    Words.acquireFence();
    return word;
  }

  /** Written out, since a loop over {@code long} offsets is not unrolled. */
  private long findIn(long bucket, long wanted) {
    long word = Words.loadPlain(memory, bucket);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    word = Words.loadPlain(memory, bucket + 8);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    word = Words.loadPlain(memory, bucket + 16);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    word = Words.loadPlain(memory, bucket + 24);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    word = Words.loadPlain(memory, bucket + 32);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    word = Words.loadPlain(memory, bucket + 40);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    word = Words.loadPlain(memory, bucket + 48);
    if (word >>> TAG_SHIFT == wanted) {
      return word;
    }
    return 0;
  }

  private long findInOverflow(long main, long wanted) {
    for (long bucket = next(main); bucket >= 0; bucket = next(bucket)) {
      long word = findIn(bucket, wanted);
      if (word != 0) {
        return word;
      }
    }
    return 0;
  }

  private long next(long bucket) {
    long word = Words.loadPlain(memory, bucket + BucketLayout.OVERFLOW);
    long number = BucketLayout.nextBucket(word);
    return number == OverflowBuckets.NONE ? -1 : number * BucketLayout.BYTES;
  }
}
