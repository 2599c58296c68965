package io.fasterkv.index;

import static io.fasterkv.index.BucketLayout.sameTag;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * One size of the latch-free hash index (SIGMOD'18, section 3): from a hash to the address of the
 * newest record of its chain. Each (bucket, tag) has at most one entry that others can see. A table
 * keeps its main buckets for ever, and may get more overflow buckets; {@link HashIndex} holds the
 * one that is in use.
 *
 * <p>Insertion has two phases (section 3.2). A thread claims a free entry with a tentative word,
 * which others do not follow, and then looks through the whole chain of buckets again: if the tag
 * is there a second time, tentative or not, it gives its claim up and starts over. Of two threads
 * that claim different entries for one tag, at least one sees the other, since each claims by a
 * compare-and-set before it looks.
 *
 * <p>Memory is limited, so a chain may find no overflow bucket when all its entries are taken. Its
 * main bucket is then marked as saturated, for good. In a saturated chain, a tag that has no entry
 * of its own shares entry {@code tag % 7} of the main bucket with whatever is chained there; keys
 * tell the records apart, the chain is just longer. The mark lies in the word that every walk reads
 * first, and a claim is checked against it after the compare-and-set: a thread either sees the mark
 * and gives up its claim, or its claim is seen, and waited for, by those who see the mark.
 *
 * <p>A bucket's number grows with the hash, so that a range of hashes is a range of buckets.
 */
public final class IndexTable {
  /** What the memory is for, as the budget calls it. */
  static final String PURPOSE = "hash index";

  private static final long ABSENT = -1;
  private static final long CONTENDED = -2;
  private static final long FULL = -3;
  private static final int MAX_BACKOFF_SPINS = 64;

  private final MemorySegment memory;
  private final long mainBuckets;
  private final OverflowBuckets overflow;
  private final LongAdder entries = new LongAdder();
  private final AtomicLong saturatedChains = new AtomicLong();

  /** A table whose first {@code overflowUsed} overflow buckets are, or will be, in use. */
  public IndexTable(OffHeapArena arena, IndexGeometry geometry, long overflowUsed) {
    this(arena, geometry, overflowUsed, Growth.NONE);
  }

  /** As the other, for a table that may get more overflow buckets. */
  IndexTable(OffHeapArena arena, IndexGeometry geometry, long overflowUsed, Growth growth) {
    long bytes = geometry.bytes();
    memory =
        growth.bytes == 0
            ? arena.allocate(PURPOSE, bytes, OffHeapArena.PAGE_ALIGNMENT)
            : arena.allocateResizable(PURPOSE, bytes, growth.bytes);
    mainBuckets = geometry.mainBuckets();
    overflow = new OverflowBuckets(mainBuckets, geometry.buckets(), overflowUsed, growth.onScarce);
  }

  /**
   * How a table may get more overflow buckets.
   *
   * @param bytes how much more memory it may get
   * @param onScarce told by who inserts while few overflow buckets are left; it must not wait
   */
  record Growth(long bytes, Runnable onScarce) {
    static final Growth NONE = new Growth(0, () -> {});
  }

  /** Whether few overflow buckets are left. */
  public boolean isOverflowScarce() {
    return overflow.areScarce();
  }

  /** How much of so many bytes more there is an address for, in whole buckets. */
  long extensibleBytes(long bytes) {
    return Math.min(bytes, memory.byteSize() - geometry().bytes()) & -BucketLayout.BYTES;
  }

  /** Makes overflow buckets of {@link #extensibleBytes}; one caller at a time. */
  void extend(long bytes) {
    overflow.extend(bytes / BucketLayout.BYTES);
  }

  /** Finds the entry of a hash; false when there is none. */
  public boolean find(long hash, IndexEntry entry) {
    long main = mainBucket(hash);
    boolean saturated = isSaturated(main);
    while (true) {
      long offset = lookUp(main, BucketLayout.entry(hash), entry);
      if (offset >= 0) {
        return true;
      }
      if (offset == ABSENT || !saturated) {
        return saturated && loadShared(main, hash, entry);
      }
      // In a saturated chain a claim must end before the shared entry may be trusted.
      Thread.onSpinWait();
    }
  }

  /** Finds the entry of a hash, or makes one whose address is 0. */
  public void findOrCreate(long hash, IndexEntry entry) {
    long main = mainBucket(hash);
    long wanted = BucketLayout.entry(hash);
    while (true) {
      boolean saturated = isSaturated(main);
      long offset = lookUp(main, wanted, entry);
      if (offset >= 0) {
        return;
      }
      if (offset == ABSENT) {
        if (saturated ? shareEntry(main, hash, entry) : insert(main, wanted, entry)) {
          return;
        }
      }
      backOff();
    }
  }

  /**
   * Lets the entry of a hash lead to {@code address}, if it leads to a lower one or is not there.
   * For a table that only such calls fill, and that shares no entry; any number of threads. False
   * if the entry is not there and there is no room for it.
   */
  public boolean raise(long hash, long address, IndexEntry entry) {
    long main = mainBucket(hash);
    long wanted = BucketLayout.entry(hash);
    while (true) {
      long at = lookUp(main, wanted, entry);
      if (at >= 0) {
        if (BucketLayout.address(entry.word) >= address || compareAndSet(entry, address)) {
          return true;
        }
      } else if (at == ABSENT && isSaturated(main)) {
        return false;
      } else if (at == CONTENDED || !insert(main, wanted, entry)) {
        backOff();
      }
    }
  }

  /** Puts {@code address} in the place of what {@code entry} has read; false if it has changed. */
  public boolean compareAndSet(IndexEntry entry, long address) {
    long replacement = BucketLayout.withAddress(entry.word, address);
    return Words.compareAndSet(memory, entry.offset, entry.word, replacement);
  }

  /** Frees an entry whose chain holds nothing any more; false if it has changed. */
  public boolean remove(IndexEntry entry) {
    boolean isRemoved = Words.compareAndSet(memory, entry.offset, entry.word, 0);
    if (isRemoved) {
      countEntries(-1);
    }
    return isRemoved;
  }

  /** The latch of the bucket that {@code hash} belongs to. */
  BucketLatch latch(long hash) {
    return new BucketLatch(memory, mainBucket(hash) + BucketLayout.OVERFLOW);
  }

  /** How many main buckets there are. */
  public long mainBuckets() {
    return mainBuckets;
  }

  /** All buckets' memory, main buckets first, and what may be buckets later. */
  public MemorySegment memory() {
    return memory;
  }

  /** How the memory is divided. */
  public IndexGeometry geometry() {
    return new IndexGeometry(mainBuckets, overflow.count());
  }

  /** How many entries there are: right when nobody changes the index, and nearly right else. */
  public long entries() {
    return entries.sum();
  }

  /** How many main buckets are marked as saturated. */
  public long saturatedChains() {
    return saturatedChains.getAcquire();
  }

  /** How many overflow buckets are in use. */
  public long overflowBucketsUsed() {
    return overflow.used();
  }

  OverflowBuckets overflow() {
    return overflow;
  }

  void countEntries(long more) {
    entries.add(more);
  }

  void countSaturated() {
    saturatedChains.incrementAndGet();
  }

  /** Marks a main bucket's chain as saturated. */
  void saturate(long main) {
    long at = main + BucketLayout.OVERFLOW;
    if (!BucketLayout.isSaturated(Words.getAndBitwiseOr(memory, at, BucketLayout.SATURATED))) {
      countSaturated();
    }
  }

  private long mainBucket(long hash) {
    return Math.unsignedMultiplyHigh(hash, mainBuckets) * BucketLayout.BYTES;
  }

  boolean isSaturated(long main) {
    return BucketLayout.isSaturated(Words.loadVolatile(memory, main + BucketLayout.OVERFLOW));
  }

  /**
   * The offset of the entry with a tag, {@link #ABSENT}, or {@link #CONTENDED} by a claim. If it is
   * absent, {@code entry} has the offset of the first that was free, or {@link #FULL}.
   */
  private long lookUp(long main, long wanted, IndexEntry entry) {
    long result = ABSENT;
    long free = FULL;
    for (long bucket = main; bucket >= 0; bucket = next(bucket)) {
      for (long at = bucket; at < bucket + BucketLayout.OVERFLOW; at += Long.BYTES) {
        long word = Words.loadVolatile(memory, at);
        if (sameTag(word, wanted)) {
          if (!BucketLayout.isTentative(word)) {
            entry.offset = at;
            entry.word = word;
            return at;
          }
          result = CONTENDED;
        } else if (word == 0 && free == FULL) {
          free = at;
        }
      }
    }
    entry.offset = free;
    return result;
  }

  /** The bucket after {@code bucket} in its chain, or -1. */
  long next(long bucket) {
    long word = Words.loadAcquire(memory, bucket + BucketLayout.OVERFLOW);
    long number = BucketLayout.nextBucket(word);
    return number == OverflowBuckets.NONE ? -1 : number * BucketLayout.BYTES;
  }

  /**
   * Tries to make an entry where the look-up has found a free one. If it has found none, makes room
   * for the next attempt.
   */
  private boolean insert(long main, long wanted, IndexEntry entry) {
    long free = entry.offset;
    if (free == FULL) {
      grow(main);
      return false;
    }
    long claim = wanted | BucketLayout.TENTATIVE;
    if (!Words.compareAndSet(memory, free, 0, claim)) {
      return false;
    }
    boolean mayStay;
    boolean isCounted = false;
    try {
      mayStay = !isSaturated(main) && !standsElsewhere(main, wanted, free);
      if (mayStay) {
        countEntries(1);
        isCounted = true;
      }
      Words.storeRelease(memory, free, mayStay ? wanted : 0);
    } catch (Throwable e) {
      // The stack is exhausted, but others wait for the claim to end. This needs only as much stack
      // as the claim did.
      Words.compareAndSet(memory, free, claim, 0);
      if (isCounted) {
        countEntries(-1);
      }
      throw e;
    }
    if (mayStay) {
      entry.word = wanted;
    }
    return mayStay;
  }

  private boolean standsElsewhere(long main, long wanted, long own) {
    for (long bucket = main; bucket >= 0; bucket = next(bucket)) {
      for (long at = bucket; at < bucket + BucketLayout.OVERFLOW; at += Long.BYTES) {
        if (at != own && sameTag(Words.loadVolatile(memory, at), wanted)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Adds an overflow bucket to a chain, or marks the chain as saturated. */
  private void grow(long main) {
    long last = main;
    for (long after = next(last); after >= 0; after = next(last)) {
      last = after;
    }
    long fresh = overflow.take();
    if (fresh == OverflowBuckets.NONE) {
      saturate(main);
      return;
    }
    long end = last + BucketLayout.OVERFLOW;
    long word = Words.loadAcquire(memory, end);
    boolean isEnd = BucketLayout.nextBucket(word) == OverflowBuckets.NONE;
    if (!isEnd || !Words.compareAndSet(memory, end, word, word | fresh)) {
      overflow.giveBack(fresh);
    }
  }

  private static long sharedOffset(long main, long hash) {
    return main + (long) BucketLayout.sharedEntry(hash) * Long.BYTES;
  }

  /** Reads a saturated chain's shared entry; false when it has none. */
  private boolean loadShared(long main, long hash, IndexEntry entry) {
    entry.offset = sharedOffset(main, hash);
    entry.word = Words.loadAcquire(memory, entry.offset);
    while (BucketLayout.isTentative(entry.word)) {
      Thread.onSpinWait();
      entry.word = Words.loadAcquire(memory, entry.offset);
    }
    return entry.word != 0;
  }

  /** Takes a saturated chain's shared entry, making it when it is free. */
  private boolean shareEntry(long main, long hash, IndexEntry entry) {
    if (loadShared(main, hash, entry)) {
      return true;
    }
    entry.word = BucketLayout.entry(hash);
    boolean isMade = Words.compareAndSet(memory, entry.offset, 0, entry.word);
    if (isMade) {
      countEntries(1);
    }
    return isMade;
  }

  private static void backOff() {
    int spins = ThreadLocalRandom.current().nextInt(MAX_BACKOFF_SPINS);
    for (int i = 0; i < spins; i++) {
      Thread.onSpinWait();
    }
  }
}
