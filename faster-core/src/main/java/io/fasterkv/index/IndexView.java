package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Reads one {@link IndexTable}, for code that looks up many hashes and needs only existing entries.
 * A record class, so that the compiler treats all parts of a constant view as constants.
 *
 * <p>Entries are read plainly, followed by an acquire fence, so that the record behind an entry is
 * complete: an access mode for each entry keeps the compiler from combining the checks of a
 * bucket's entries, and cost a quarter of the throughput. An aligned word is read atomically on
 * every 64-bit machine. Unlike {@link IndexTable#find}, this never concludes that a tag is absent,
 * so it does not take part in the order of claims and saturation.
 *
 * @param table the table it reads; compare it by identity with {@link HashIndex#quietTable()} after
 *     protecting, before accessing the memory
 */
public record IndexView(IndexTable table, MemorySegment memory, long mainBuckets) {
  private static final int TAG_SHIFT = Long.SIZE - BucketLayout.TAG_BITS - 2;

  public static IndexView of(IndexTable table) {
    return new IndexView(table, table.memory(), table.mainBuckets());
  }

  /** Offset of the bucket of a hash. */
  public long bucket(long hash) {
    return Math.unsignedMultiplyHigh(hash, mainBuckets) * BucketLayout.BYTES;
  }

  /** Loads a bucket into the cache; the result has no meaning. */
  public long prefetch(long bucket) {
    return Words.loadPlain(memory, bucket);
  }

  /** The newest address under a hash's own entry; 0 if it was not found at once. */
  public long address(long bucket, long hash) {
    return BucketLayout.address(find(bucket, BucketLayout.entry(hash) >>> TAG_SHIFT));
  }

  /** The address part of a confirmed entry with these upper bits; 0 if there is none. */
  private long find(long main, long wanted) {
    long word = findIn(main, wanted);
    if (word == 0) {
      word = findInOverflow(main, wanted);
    }
    Words.acquireFence();
    return word;
  }

  /** Unrolled by hand, since the compiler does not unroll a loop over {@code long} offsets. */
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
