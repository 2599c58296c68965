package io.fasterkv.index;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Frees the entries of chains that were dropped from the log, beside any number of operations.
 *
 * <p>An entry is freed by a compare-and-set of its whole word from what showed that its chain lies
 * wholly below an address. A word with an address never comes back once it was replaced: the
 * address names one record, which is published once. So an insertion that holds the old word fails
 * its own compare-and-set and starts over, whatever the entry is used for by then. The word without
 * an address may come back, and says the same each time: a chain of nothing.
 */
public final class IndexCleaner {
  private static final long CHUNK_BUCKETS = 4096;

  private final HashIndex index;
  private final Epochs epochs;

  public IndexCleaner(HashIndex index, Epochs epochs) {
    this.index = index;
    this.epochs = epochs;
  }

  /**
   * Frees the entries whose newest record lies below {@code address}; returns how many. Leaves the
   * rest for another time when the index is resized meanwhile.
   */
  public long clean(long address) {
    try (EpochUser user = epochs.register()) {
      long freed = 0;
      IndexTable first = null;
      for (long from = 0; ; from += CHUNK_BUCKETS) {
        user.protect();
        try {
          IndexTable table = index.stableTable();
          first = first == null ? table : first;
          if (table == null || table != first || from >= buckets(table)) {
            return freed;
          }
          freed += clean(table, from, Math.min(from + CHUNK_BUCKETS, buckets(table)), address);
        } finally {
          user.unprotect();
        }
      }
    }
  }

  private static long buckets(IndexTable table) {
    return table.mainBuckets() + table.overflowBucketsUsed();
  }

  private static long clean(IndexTable table, long from, long until, long address) {
    MemorySegment memory = table.memory();
    long freed = 0;
    for (long bucket = from; bucket < until; bucket++) {
      long start = bucket * BucketLayout.BYTES;
      for (long at = start; at < start + BucketLayout.OVERFLOW; at += Long.BYTES) {
        long word = Words.loadVolatile(memory, at);
        if (isDropped(word, address) && Words.compareAndSet(memory, at, word, 0)) {
          freed++;
        }
      }
    }
    table.countEntries(-freed);
    return freed;
  }

  private static boolean isDropped(long word, long address) {
    return word != 0 && !BucketLayout.isTentative(word) && BucketLayout.address(word) < address;
  }
}
