package io.fasterkv.index;

import io.fasterkv.epoch.EpochUser;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;

/**
 * Frees the entries of chains that were dropped from the log, while operations continue.
 *
 * <p>An entry is freed by a compare-and-set of its whole word, after that word has shown that its
 * chain is completely below an address. A word with an address never recurs once it was replaced:
 * the address belongs to one record, which is published once. So an insertion with the old word
 * fails its own compare-and-set and retries, whatever the entry is used for by then. A word without
 * an address may recur and always means an empty chain.
 */
public final class IndexCleaner {
  private static final long CHUNK_BUCKETS = 4096;

  private final HashIndex index;
  private final Epochs epochs;

  /**
   * No entry leads to an address below this one, except those that had to stay: all others were
   * freed, and later records have higher addresses.
   */
  private volatile long cleanedBelow;

  public IndexCleaner(HashIndex index, Epochs epochs) {
    this.index = index;
    this.epochs = epochs;
  }

  /**
   * Frees the entries whose newest record is below {@code address}; returns their number. Reads
   * nothing if they have all been freed before. If the index is resized meanwhile, the rest is left
   * for another call.
   */
  public long clean(long address) {
    if (address <= cleanedBelow) {
      return 0;
    }
    try (EpochUser user = epochs.register()) {
      long freed = 0;
      IndexTable first = null;
      for (long from = 0; ; from += CHUNK_BUCKETS) {
        user.protect();
        try {
          IndexTable table = index.stableTable();
          first = first == null ? table : first;
          if (table == null || table != first) {
            return freed;
          }
          table.dropped(address);
          if (from >= table.mainBuckets()) {
            cleanedBelow = address;
            return freed;
          }
          freed += clean(table, from, Math.min(from + CHUNK_BUCKETS, table.mainBuckets()), address);
        } finally {
          user.unprotect();
        }
      }
    }
  }

  /** Cleans the chains of some main buckets. */
  private static long clean(IndexTable table, long from, long until, long address) {
    MemorySegment memory = table.memory();
    long freed = 0;
    for (long number = from; number < until; number++) {
      long main = number * BucketLayout.BYTES;
      long first = table.mayFree(main) ? main : -1;
      for (long bucket = first; bucket >= 0; bucket = table.next(bucket)) {
        for (long at = bucket; at < bucket + BucketLayout.OVERFLOW; at += Long.BYTES) {
          long word = Words.loadVolatile(memory, at);
          if (isDropped(word, address) && Words.compareAndSet(memory, at, word, 0)) {
            freed++;
          }
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
