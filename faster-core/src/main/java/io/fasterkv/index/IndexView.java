package io.fasterkv.index;

import io.fasterkv.memory.WholeMemory;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Reads one {@link IndexTable}, for code that looks up many hashes and needs only existing entries.
 * It reads without checks in {@link WholeMemory}, so its caller must be protected, and must have
 * checked since then that the table is the index's.
 *
 * <p>Entries are read plainly, followed by an acquire fence, so that the record behind an entry is
 * complete: an access mode for each entry keeps the compiler from combining the checks of a
 * bucket's entries, and cost a quarter of the throughput. An aligned word is read atomically on
 * every 64-bit machine. Unlike {@link IndexTable#find}, this never concludes that a tag is absent,
 * so it does not take part in the order of claims and saturation.
 *
 * <p>A record class, so that the compiler treats all parts of a constant view as constants.
 *
 * @param table the table it reads; compare it by identity with {@link HashIndex#quietTable()}
 * @param own the table's memory
 * @param base where that begins in the memory that is read
 * @param tagBase see {@link IndexGeometry#tagBase}
 */
public record IndexView(
    IndexTable table, MemorySegment own, long base, long mainBuckets, long tagBase) {
  private static final int TAG_SHIFT = Long.SIZE - BucketLayout.TAG_BITS - 2;

  public static IndexView of(IndexTable table) {
    MemorySegment own = table.memory();
    return new IndexView(table, own, WholeMemory.base(own), table.mainBuckets(), table.tagBase());
  }

  /** The place of the main bucket of a hash. */
  public long bucket(long hash) {
    return place(Math.unsignedMultiplyHigh(hash, mainBuckets));
  }

  private long place(long number) {
    return base + number * BucketLayout.BYTES & WholeMemory.PLACES;
  }

  /**
   * Loads the main bucket of a hash into the cache, for callers that are not protected; the result
   * has no meaning.
   *
   * @throws IllegalStateException if the table was freed
   */
  public long loadUnprotected(long hash) {
    long number = Math.unsignedMultiplyHigh(hash, mainBuckets);
    return Words.loadPlain(own, number * BucketLayout.BYTES);
  }

  /** Loads a bucket into the cache; the result has no meaning. */
  public long prefetch(long bucket) {
    return Words.loadPlain(WholeMemory.or(own), bucket);
  }

  /** The newest address under a hash's own entry; 0 if it was not found at once. */
  public long address(long main, long hash) {
    long entry = BucketLayout.entry(hash, tagBase);
    long address = findIn(main, entry);
    if (address == 0) {
      address = findInOverflow(main, entry);
    }
    Words.acquireFence();
    return address;
  }

  /**
   * The address in the confirmed entry that otherwise equals {@code entry}; 0 if there is none.
   * Unrolled by hand, since the compiler does not unroll a loop over {@code long} offsets.
   */
  private long findIn(long bucket, long entry) {
    MemorySegment memory = WholeMemory.or(own);
    long address = Words.loadPlain(memory, bucket) ^ entry;
    if (address >>> TAG_SHIFT == 0) {
      return address;
    }
    address = Words.loadPlain(memory, bucket + 8) ^ entry;
    if (address >>> TAG_SHIFT == 0) {
      return address;
    }
    address = Words.loadPlain(memory, bucket + 16) ^ entry;
    if (address >>> TAG_SHIFT == 0) {
      return address;
    }
    address = Words.loadPlain(memory, bucket + 24) ^ entry;
    if (address >>> TAG_SHIFT == 0) {
      return address;
    }
    address = Words.loadPlain(memory, bucket + 32) ^ entry;
    if (address >>> TAG_SHIFT == 0) {
      return address;
    }
    address = Words.loadPlain(memory, bucket + 40) ^ entry;
    if (address >>> TAG_SHIFT == 0) {
      return address;
    }
    address = Words.loadPlain(memory, bucket + 48) ^ entry;
    return address >>> TAG_SHIFT == 0 ? address : 0;
  }

  private long findInOverflow(long main, long entry) {
    for (long bucket = next(main); bucket >= 0; bucket = next(bucket)) {
      long address = findIn(bucket, entry);
      if (address != 0) {
        return address;
      }
    }
    return 0;
  }

  private long next(long bucket) {
    long word = Words.loadPlain(WholeMemory.or(own), bucket + BucketLayout.OVERFLOW);
    long number = BucketLayout.nextBucket(word);
    return number == OverflowBuckets.NONE ? -1 : place(number);
  }
}
