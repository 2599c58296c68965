package io.fasterkv.index;

import static io.fasterkv.index.BucketLayout.sameTag;

import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.WholeMemory;
import io.fasterkv.memory.Words;
import io.fasterkv.record.Address;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A latch-free hash index of one size (SIGMOD'18, section 3): it maps a hash to the address of the
 * newest record of its chain. Each (bucket, tag) has at most one entry that other threads can see.
 * A table's main buckets are fixed; it may get more overflow buckets. {@link HashIndex} holds the
 * table in use.
 *
 * <p>Insertion has two phases (section 3.2). A thread claims a free entry with a tentative word,
 * which other threads do not follow, and then checks the whole chain of buckets again: if the tag
 * occurs a second time, tentative or not, it gives up its claim and retries. Of two threads that
 * claim different entries for one tag, at least one sees the other, since each claims by a
 * compare-and-set before it checks.
 *
 * <p>Memory is limited, so there may be no overflow bucket for a chain whose entries are all taken.
 * Its main bucket is then marked as saturated. In a saturated chain, a tag without an entry of its
 * own shares entry {@code tag % 7} of the main bucket; keys distinguish the records, and the chain
 * is just longer. The mark is in the word that every walk reads first, and a claim is checked
 * against it after the compare-and-set: a thread either sees the mark and gives up its claim, or
 * threads that see the mark also see the claim and wait for it.
 *
 * <p>When a resize has made room, a saturated chain whose tags are not all known is reopened: its
 * tags still read the entries that they have shared, but only the tag in such an entry adds records
 * through it. Any other tag inherits: it gets an entry of its own with its next record, which leads
 * to the chain that it has shared. All of the tag's older records are there, since no thread has
 * added one to that chain since the resize. If the room is used up, the chain is saturated as
 * before: the mark of reopening is removed, and claims are checked against that in the same way.
 * Tags inherit until the log begins above all records from before the resize. Until then their own
 * entries stay: a tag whose entry was freed would inherit a second time, and a thread could not
 * tell.
 *
 * <p>A bucket's number grows with the hash, so a range of hashes is a range of buckets.
 */
public final class IndexTable {
  /** The name of its memory in the memory budget. */
  static final String PURPOSE = "hash index";

  private static final long ABSENT = -1;
  private static final long CONTENDED = -2;
  static final long FULL = -3;
  private static final long PRESENT = -4;
  private static final int MAX_BACKOFF_SPINS = 64;

  /** An index with fewer saturated chains than this part is not worth doubling for them. */
  private static final long SHARED_PART = 16;

  private final MemorySegment memory;

  /** Where that begins in the memory that lookups read. */
  private final long base;

  private final long mainBuckets;
  private final long tagBase;
  private final OverflowBuckets overflow;
  private final LongAdder entries = new LongAdder();
  private final Runnable onShared;
  private final AtomicLong saturatedChains = new AtomicLong();

  /** Saturated chains that are not reopened. */
  private final AtomicLong closedChains = new AtomicLong();

  /**
   * While tags of reopened chains inherit: their own records in the chains that they inherit are
   * below this address. Otherwise 0.
   */
  private final AtomicLong inheritedBelow = new AtomicLong();

  /** Creates a table whose first {@code overflowUsed} overflow buckets are, or will be, in use. */
  public IndexTable(OffHeapArena arena, IndexGeometry geometry, long overflowUsed) {
    this(arena, geometry, overflowUsed, Growth.NONE);
  }

  /** Creates a table that may get more overflow buckets. */
  IndexTable(OffHeapArena arena, IndexGeometry geometry, long overflowUsed, Growth growth) {
    long bytes = geometry.bytes();
    memory =
        growth.bytes == 0
            ? arena.allocate(PURPOSE, bytes, OffHeapArena.PAGE_ALIGNMENT)
            : arena.allocateResizable(PURPOSE, bytes, growth.bytes);
    base = WholeMemory.base(memory);
    mainBuckets = geometry.mainBuckets();
    tagBase = geometry.tagBase();
    onShared = growth.onShared;
    overflow =
        new OverflowBuckets(mainBuckets, geometry.buckets(), overflowUsed, growth.onOutgrown);
  }

  /**
   * How a table may get more overflow buckets.
   *
   * @param bytes maximum additional memory
   * @param onOutgrown called by inserting threads while chains have outgrown the main buckets; must
   *     not block
   * @param onShared called by threads whose tag shares an entry; must not block
   */
  record Growth(long bytes, Runnable onOutgrown, Runnable onShared) {
    static final Growth NONE = new Growth(0, () -> {}, () -> {});
  }

  /** Whether chains have outgrown the main buckets. */
  boolean isOutgrown() {
    return overflow.areOutgrown();
  }

  /** Whether few overflow buckets are left. */
  public boolean isOverflowScarce() {
    return overflow.areScarce();
  }

  /** Whether very few overflow buckets are left. */
  boolean isOverflowNearlyGone() {
    return overflow.areNearlyGone();
  }

  /** How many of these additional bytes can be addressed, in whole buckets. */
  long extensibleBytes(long bytes) {
    return Math.min(bytes, memory.byteSize() - geometry().bytes()) & -BucketLayout.BYTES;
  }

  /** Adds overflow buckets of {@link #extensibleBytes}; one caller at a time. */
  void extend(long bytes) {
    overflow.extend(bytes / BucketLayout.BYTES);
  }

  /** Finds the entry of a hash; returns false if there is none. */
  public boolean find(long hash, IndexEntry entry) {
    long main = mainBucket(hash);
    long wanted = entry(hash);
    // Read before the chain, here and below.
    long state = state(main);
    while (true) {
      long offset = lookUp(WholeMemory.or(memory), base, main, wanted, entry);
      if (offset >= 0) {
        return true;
      }
      if (offset == ABSENT || !BucketLayout.isSaturated(state)) {
        return BucketLayout.isSaturated(state) && loadShared(main, wanted, state, entry);
      }
      // In a saturated chain, a claim must end before the shared entry may be trusted.
      Thread.onSpinWait();
    }
  }

  /** Finds the entry of a hash, or creates one whose address is 0. */
  public void findOrCreate(long hash, IndexEntry entry) {
    long main = mainBucket(hash);
    long wanted = entry(hash);
    while (true) {
      long state = state(main);
      long offset = lookUp(WholeMemory.or(memory), base, main, wanted, entry);
      if (offset >= 0 || (offset == ABSENT && create(main, wanted, state, entry))) {
        return;
      }
      backOff();
    }
  }

  /** Finds or creates an entry for a tag that has none of its own. */
  private boolean create(long main, long wanted, long state, IndexEntry entry) {
    long free = entry.offset;
    if (BucketLayout.isSaturated(state)) {
      if (loadShared(main, wanted, state, entry)) {
        return true;
      }
      if (!BucketLayout.isReopened(state)) {
        return takeShared(wanted, entry);
      }
    }
    return insert(main, wanted, free, entry);
  }

  /**
   * Replaces the word that {@code entry} has read by {@code address}; returns false if it has
   * changed. In a reopened chain, makes the entry if its tag has none.
   */
  public boolean compareAndSet(IndexEntry entry, long address) {
    long replacement = BucketLayout.withAddress(entry.word, address);
    return Words.compareAndSet(memory, entry.offset, entry.word, replacement)
        || (isInherited(entry) && makeOwn(entry, replacement));
  }

  /** Whether {@code entry} still has the word that was read, or has not been made. */
  boolean isUnchanged(IndexEntry entry) {
    return isInherited(entry)
        ? freeEntry(entry.offset, entry.word) != PRESENT
        : Words.loadAcquire(memory, entry.offset) == entry.word;
  }

  /**
   * Frees the entry of a hash, whose chain has ended; returns false if it has changed or must stay.
   */
  public boolean remove(long hash, IndexEntry entry) {
    return mayFree(mainBucket(hash)) && replaceCounted(entry.offset, entry.word, 0, -1);
  }

  /** Whether entries of the chain may be freed. */
  boolean mayFree(long main) {
    return !BucketLayout.isReopened(load(memory, 0, main + BucketLayout.OVERFLOW))
        || !isInheriting();
  }

  /** Tags of reopened chains inherit records below {@code address}. */
  public void inheritBelow(long address) {
    inheritedBelow.accumulateAndGet(address, Math::max);
  }

  /** Notes that all records below {@code address} were dropped from the log. */
  public void dropped(long address) {
    long below = inheritedBelow.get();
    if (below != 0 && below <= address) {
      inheritedBelow.compareAndSet(below, 0);
    }
  }

  private boolean isInheriting() {
    return inheritedBelow.get() != 0;
  }

  /**
   * Replaces a word by another that makes or frees an entry, and counts that; returns false if the
   * word has changed. Counts first: if the stack ends here, the count can still be undone, but a
   * replaced word cannot.
   */
  private boolean replaceCounted(long at, long word, long replacement, int made) {
    countEntries(made);
    boolean isReplaced = false;
    try {
      isReplaced = Words.compareAndSet(memory, at, word, replacement);
    } finally {
      if (!isReplaced) {
        countEntries(-made);
      }
    }
    return isReplaced;
  }

  /** The latch of the bucket of {@code hash}. */
  BucketLatch latch(long hash) {
    return new BucketLatch(memory, mainBucket(hash) + BucketLayout.OVERFLOW);
  }

  /** Number of main buckets. */
  public long mainBuckets() {
    return mainBuckets;
  }

  /** Number of main buckets from which tags count. */
  long tagBase() {
    return tagBase;
  }

  /** The memory of all buckets, main buckets first, and of buckets that may be added. */
  public MemorySegment memory() {
    return memory;
  }

  /** The division of the memory. */
  public IndexGeometry geometry() {
    return new IndexGeometry(mainBuckets, overflow.count(), tagBase);
  }

  /**
   * Number of entries, without those that a resize has moved to a new table; exact if no thread
   * changes the index, otherwise approximate.
   */
  public long entries() {
    return entries.sum();
  }

  /** Number of main buckets that are marked as saturated. */
  public long saturatedChains() {
    return saturatedChains.getAcquire();
  }

  /** Number of overflow buckets in use. */
  public long overflowBucketsUsed() {
    return overflow.used();
  }

  OverflowBuckets overflow() {
    return overflow;
  }

  void countEntries(long more) {
    entries.add(more);
  }

  /** Whether tags add records through entries that they share, in more than a few chains. */
  boolean isShared() {
    return closedChains.getAcquire() > mainBuckets / SHARED_PART;
  }

  /** Counts a saturated chain that was loaded. */
  void countSaturated(boolean isReopened) {
    saturatedChains.incrementAndGet();
    if (!isReopened) {
      closedChains.incrementAndGet();
    }
  }

  /** Marks a main bucket's chain as saturated and not reopened. */
  void saturate(long main) {
    long at = main + BucketLayout.OVERFLOW;
    if (!BucketLayout.isSaturated(Words.getAndBitwiseOr(memory, at, BucketLayout.SATURATED))) {
      countSaturated(false);
    } else if (BucketLayout.isReopened(
        Words.getAndBitwiseAnd(memory, at, ~BucketLayout.REOPENED))) {
      closedChains.incrementAndGet();
    }
  }

  /** Marks the chain of a main bucket that no other thread sees yet as saturated and reopened. */
  void reopen(long main) {
    long at = main + BucketLayout.OVERFLOW;
    saturate(main);
    Words.storePlain(memory, at, Words.loadPlain(memory, at) | BucketLayout.REOPENED);
    closedChains.decrementAndGet();
  }

  /** An entry without an address for the tag of a hash. */
  long entry(long hash) {
    return BucketLayout.entry(hash, tagBase);
  }

  long mainBucket(long hash) {
    return Math.unsignedMultiplyHigh(hash, mainBuckets) * BucketLayout.BYTES;
  }

  boolean isSaturated(long main) {
    return BucketLayout.isSaturated(load(memory, 0, main + BucketLayout.OVERFLOW));
  }

  /** Whether tags without an entry share one and add records through it. */
  private boolean isClosed(long main) {
    long state = state(main);
    return BucketLayout.isSaturated(state) && !BucketLayout.isReopened(state);
  }

  /** The word of a main bucket that tells whether its chain is saturated. */
  private long state(long main) {
    return load(WholeMemory.or(memory), base, main + BucketLayout.OVERFLOW);
  }

  /** Like the other method, for a caller that is not protected. */
  long lookUp(long main, long wanted, IndexEntry entry) {
    return lookUp(memory, 0, main, wanted, entry);
  }

  /**
   * The offset of the entry with a tag, {@link #ABSENT}, or {@link #CONTENDED} because of a claim.
   * If it is absent, {@code entry} gets the offset of the first free entry, or {@link #FULL}.
   *
   * @param memory the table's memory, or {@link WholeMemory}
   * @param base where the table begins in that
   */
  private static long lookUp(
      MemorySegment memory, long base, long main, long wanted, IndexEntry entry) {
    long result = ABSENT;
    long free = FULL;
    for (long bucket = main; bucket >= 0; bucket = next(memory, base, bucket)) {
      for (int i = 0; i < BucketLayout.ENTRIES; i++) {
        long at = bucket + (long) i * Long.BYTES;
        long word = load(memory, base, at);
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
    return next(memory, 0, bucket);
  }

  private static long next(MemorySegment memory, long base, long bucket) {
    long word = load(memory, base, bucket + BucketLayout.OVERFLOW);
    long number = BucketLayout.nextBucket(word);
    return number == OverflowBuckets.NONE ? -1 : number * BucketLayout.BYTES;
  }

  /**
   * Loads a word: without checks in {@link WholeMemory}, for callers that are protected and have
   * entered the table; else in the table's own memory, which throws if it was freed.
   */
  private static long load(MemorySegment memory, long base, long at) {
    return Words.loadVolatile(memory, (base + at) & WholeMemory.PLACES);
  }

  /**
   * Tries to create the entry in the free one that the lookup has found. If there was none, makes
   * room for the next attempt.
   */
  private boolean insert(long main, long wanted, long free, IndexEntry entry) {
    if (free == FULL) {
      grow(main);
      return false;
    }
    entry.offset = free;
    entry.word = wanted;
    return claim(main, free, wanted, false);
  }

  /**
   * Puts a word into a free entry, unless the chain has its tag by then or is saturated and not
   * reopened.
   *
   * @param inherits whether the word is only valid while tags inherit
   */
  private boolean claim(long main, long free, long word, boolean inherits) {
    long claim = BucketLayout.withAddress(word, Address.NONE) | BucketLayout.TENTATIVE;
    if (!Words.compareAndSet(memory, free, 0, claim)) {
      return false;
    }
    boolean mayStay;
    boolean isCounted = false;
    try {
      // In this order: an entry of the tag that was freed before the walk shows in the other two.
      mayStay =
          !isPresentElsewhere(main, claim, free)
              && !isClosed(main)
              && (!inherits || isInheriting());
      if (mayStay) {
        countEntries(1);
        isCounted = true;
      }
      Words.storeRelease(memory, free, mayStay ? word : 0);
    } catch (Throwable e) {
      // The stack is exhausted, but other threads wait for the claim to end.
      Words.compareAndSet(memory, free, claim, 0);
      if (isCounted) {
        countEntries(-1);
      }
      throw e;
    }
    return mayStay;
  }

  /** Makes an entry in place of one that its tag has shared before the chain was reopened. */
  private boolean makeOwn(IndexEntry inherited, long word) {
    long main = inherited.offset;
    while (!isClosed(main) && isInheriting()) {
      long free = freeEntry(main, word);
      if (free == FULL) {
        grow(main);
      } else if (free == PRESENT) {
        return false;
      } else if (claim(main, free, word, true)) {
        return true;
      }
    }
    return false;
  }

  /** The first free entry of a chain, {@link #FULL}, or {@link #PRESENT} if it has the tag. */
  private long freeEntry(long main, long wanted) {
    long free = FULL;
    for (long bucket = main; bucket >= 0; bucket = next(bucket)) {
      for (int i = 0; i < BucketLayout.ENTRIES; i++) {
        long at = bucket + (long) i * Long.BYTES;
        long word = load(memory, 0, at);
        if (sameTag(word, wanted)) {
          return PRESENT;
        }
        free = word == 0 && free == FULL ? at : free;
      }
    }
    return free;
  }

  private boolean isPresentElsewhere(long main, long wanted, long own) {
    MemorySegment whole = WholeMemory.or(memory);
    for (long bucket = main; bucket >= 0; bucket = next(whole, base, bucket)) {
      for (int i = 0; i < BucketLayout.ENTRIES; i++) {
        long at = bucket + (long) i * Long.BYTES;
        if (at != own && sameTag(load(whole, base, at), wanted)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Adds an overflow bucket to a chain, or marks the chain as saturated. */
  void grow(long main) {
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
      overflow.putSpare(fresh);
    }
  }

  private static long sharedOffset(long main, long wanted) {
    return main + (long) BucketLayout.sharedEntry(BucketLayout.tag(wanted)) * Long.BYTES;
  }

  /**
   * Reads a saturated chain's shared entry; returns false if there is none. In a reopened chain,
   * {@code entry} gets what its tag inherits, and {@link #compareAndSet} makes the tag's own entry.
   *
   * @param state the chain's state from before the lookup that found no entry of the tag
   */
  private boolean loadShared(long main, long wanted, long state, IndexEntry entry) {
    if (BucketLayout.isReopened(state) && !isInheriting()) {
      return false;
    }
    entry.offset = sharedOffset(main, wanted);
    entry.word = Words.loadAcquire(memory, entry.offset);
    while (BucketLayout.isTentative(entry.word)) {
      Thread.onSpinWait();
      entry.word = Words.loadAcquire(memory, entry.offset);
    }
    if (BucketLayout.isReopened(state)) {
      long address = BucketLayout.address(entry.word);
      entry.offset = main;
      entry.word = BucketLayout.withAddress(wanted, address) | BucketLayout.TENTATIVE;
      return address != Address.NONE;
    }
    onShared.run();
    return entry.word != 0;
  }

  /** Creates a saturated chain's shared entry if it is free. */
  private boolean takeShared(long wanted, IndexEntry entry) {
    entry.word = wanted;
    return replaceCounted(entry.offset, 0, entry.word, 1);
  }

  /**
   * Whether the entry stands for one that its tag does not have yet: no word in memory is a claim
   * with an address. Its offset is the main bucket's.
   */
  private static boolean isInherited(IndexEntry entry) {
    return BucketLayout.isTentative(entry.word);
  }

  private static void backOff() {
    int spins = ThreadLocalRandom.current().nextInt(MAX_BACKOFF_SPINS);
    for (int i = 0; i < spins; i++) {
      Thread.onSpinWait();
    }
  }
}
