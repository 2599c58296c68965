package io.fasterkv.index;

import io.fasterkv.memory.Words;

/** Fills a bucket that no other thread sees yet. */
final class BucketWriter {
  private final IndexTable table;
  private final long main;

  BucketWriter(IndexTable table, long bucket) {
    this.table = table;
    main = bucket * BucketLayout.BYTES;
  }

  /** Number of overflow buckets in a chain with this many entries. */
  static int overflowBucketsFor(int entries) {
    return Math.max(0, Math.ceilDiv(entries, BucketLayout.ENTRIES) - 1);
  }

  /**
   * Extends the chain to {@code wanted} overflow buckets, the first {@code reserved} of which are
   * reserved for it; returns false if there are not enough.
   */
  boolean lengthen(int wanted, int reserved) {
    long last = main;
    int count = 0;
    for (long after = table.next(last); after >= 0; after = table.next(last)) {
      last = after;
      count++;
    }
    for (; count < wanted; count++) {
      OverflowBuckets overflow = table.overflow();
      long fresh = count < reserved ? overflow.takeReserved() : overflow.take();
      if (fresh == OverflowBuckets.NONE) {
        return false;
      }
      long end = last + BucketLayout.OVERFLOW;
      Words.storePlain(table.memory(), end, Words.loadPlain(table.memory(), end) | fresh);
      last = fresh * BucketLayout.BYTES;
    }
    return true;
  }

  void saturate() {
    table.saturate(main);
  }

  /** Like {@link #saturate}, but tags may get entries of their own again. */
  void reopen() {
    table.reopen(main);
  }

  boolean isSaturated() {
    return table.isSaturated(main);
  }

  /**
   * Stores a word in the entry of its tag, which an interrupted move may have left, or in the first
   * free entry; the chain must have one.
   */
  void put(long word) {
    for (long bucket = main; bucket >= 0; bucket = table.next(bucket)) {
      for (long at = bucket; at < bucket + BucketLayout.OVERFLOW; at += Long.BYTES) {
        long before = Words.loadPlain(table.memory(), at);
        if (before == 0 || BucketLayout.tag(before) == BucketLayout.tag(word)) {
          store(at, word);
          return;
        }
      }
    }
    throw new IllegalStateException("a chain that was made long enough is full: main=" + main);
  }

  /** Stores a word in entry {@code i}, counted along the chain. */
  void set(int i, long word) {
    long bucket = main;
    for (int skip = i / BucketLayout.ENTRIES; skip > 0; skip--) {
      bucket = table.next(bucket);
    }
    store(bucket + (long) (i % BucketLayout.ENTRIES) * Long.BYTES, word);
  }

  /** The word in an entry of the main bucket. */
  long word(int slot) {
    return Words.loadPlain(table.memory(), main + (long) slot * Long.BYTES);
  }

  private void store(long at, long word) {
    if (Words.loadPlain(table.memory(), at) == 0) {
      table.countEntries(1);
    }
    Words.storePlain(table.memory(), at, word);
  }
}
