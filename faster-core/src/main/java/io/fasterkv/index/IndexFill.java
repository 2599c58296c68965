package io.fasterkv.index;

import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;

/**
 * Fills a table that no operation uses yet: each tag of a bucket gets the highest address that was
 * added for it. Any number of threads may fill a table, each with an object of its own.
 *
 * <p>Buckets are scattered over memory, and loading one takes longer than all other work. So
 * addresses are collected in batches of {@value #BATCH}, and the buckets of a batch are loaded
 * before its first entry is made. The processor overlaps loads that do not depend on each other.
 *
 * <p>A new entry needs no claim, unlike that of {@link IndexTable#findOrCreate}: while a table is
 * filled no entry becomes free, and each thread takes the first free entry of a chain. If two
 * threads add the same tag, they race for the same entry, and the CAS of one of them fails. It then
 * finds the other's entry.
 */
public final class IndexFill {
  private static final int BATCH = 128;
  private static final long END = -1;

  private final IndexTable table;
  private final LongFunction<? extends RuntimeException> noRoom;
  private final IndexEntry entry = new IndexEntry();
  private final long[] hashes = new long[BATCH];
  private final long[] addresses = new long[BATCH];
  private final long[] buckets = new long[BATCH];
  private int count;
  private int made;

  /**
   * @param table must not share entries between tags
   * @param noRoom creates the exception if there is no room for an entry with this address
   */
  public IndexFill(IndexTable table, LongFunction<? extends RuntimeException> noRoom) {
    this.table = table;
    this.noRoom = noRoom;
  }

  /** Adds the address of a record; the table has it after {@link #finish}. */
  public void add(long hash, long address) {
    hashes[count] = hash;
    addresses[count] = address;
    count++;
    if (count == BATCH) {
      finish();
    }
  }

  /** Writes everything that was added to the table. */
  public void finish() {
    try {
      loadBuckets();
      for (int i = 0; i < count; i++) {
        raise(hashes[i], addresses[i]);
      }
    } finally {
      count = 0;
      table.countEntries(made);
      made = 0;
    }
  }

  /** Loads each chain of the batch, bucket by bucket, only to bring it into the cache. */
  private void loadBuckets() {
    for (int i = 0; i < count; i++) {
      buckets[i] = table.mainBucket(hashes[i]);
    }
    MemorySegment memory = table.memory();
    boolean hasMore = count > 0;
    while (hasMore) {
      hasMore = false;
      for (int i = 0; i < count; i++) {
        if (buckets[i] != END) {
          long link = Words.loadPlain(memory, buckets[i] + BucketLayout.OVERFLOW);
          long next = BucketLayout.nextBucket(link);
          buckets[i] = next == OverflowBuckets.NONE ? END : next * BucketLayout.BYTES;
          hasMore |= next != OverflowBuckets.NONE;
        }
      }
    }
  }

  private void raise(long hash, long address) {
    long main = table.mainBucket(hash);
    long wanted = table.entry(hash);
    while (true) {
      boolean isFound = table.lookUp(main, wanted, entry) >= 0;
      if (!isFound && table.isSaturated(main)) {
        throw noRoom.apply(address);
      }
      if (isFound) {
        if (BucketLayout.address(entry.word) >= address || table.compareAndSet(entry, address)) {
          return;
        }
      } else if (entry.offset == IndexTable.FULL) {
        table.grow(main);
      } else if (make(BucketLayout.withAddress(wanted, address))) {
        return;
      }
    }
  }

  private boolean make(long word) {
    boolean isMade = Words.compareAndSet(table.memory(), entry.offset, 0, word);
    made += isMade ? 1 : 0;
    return isMade;
  }
}
