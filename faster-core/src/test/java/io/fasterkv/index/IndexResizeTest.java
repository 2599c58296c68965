package io.fasterkv.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.index.HashIndex.Transition;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import io.fasterkv.record.HashTag;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests growth and shrinkage against a map of newest records, with a log that has no room every
 * other time and whose records are evicted and die. Hashes have few tags, so that tags collide.
 */
class IndexResizeTest {
  private static final int STEPS = 3000;
  private static final int MAX_BUCKETS = 64;
  private static final int[] FACTORS = {2, 2, 2, 3, 4, 15};

  private final MemoryBudget budget = new MemoryBudget(1 << 20);
  private final OffHeapArena arena = new OffHeapArena(budget);
  private final IndexEntry entry = new IndexEntry();

  static LongStream seeds() {
    Long fixed = Long.getLong("faster.seed");
    return fixed != null ? LongStream.of(fixed) : new SplittableRandom().longs(40);
  }

  @AfterEach
  void close() {
    arena.close();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void agreesWithAMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    FakeChains chains = new FakeChains(() -> random.nextInt(3) == 0);
    long main = 1L << random.nextInt(3);
    HashIndex index = new HashIndex(arena, new IndexGeometry(main, random.nextInt(4)), 0);
    long[] hashes = hashes(random, main);
    Map<Long, Long> newest = new HashMap<>();
    for (int step = 0; step < STEPS; step++) {
      int dice = random.nextInt(100);
      if (dice == 0) {
        long buckets = index.soleTable().mainBuckets();
        if (buckets < MAX_BUCKETS && random.nextBoolean()) {
          resize(
              index,
              grown(index, FACTORS[random.nextInt(FACTORS.length)]),
              chains,
              () -> {
                long hash = hashes[random.nextInt(hashes.length)];
                newest.put(hash, push(index, chains, hash));
              });
        } else if (buckets % 2 != 0) {
          resize(index, true, chains);
        } else {
          resize(index, resized(index, false), chains);
        }
        IndexWalk.entries(index.soleTable());
        checkAll(index, chains, hashes, newest, seed);
      } else if (dice == 1) {
        chains.head = Math.max(chains.head, random.nextLong(chains.size() + 1) + 1);
      } else if (dice == 2) {
        chains.begin = Math.max(chains.begin, random.nextLong(chains.head) + 1);
        chains.begin = Math.min(chains.begin, chains.head);
        index.soleTable().dropped(chains.begin);
      } else if (dice < 8) {
        long hash = hashes[random.nextInt(hashes.length)];
        assertThat(index.enter(hash, entry)).isTrue();
        if (index.find(hash, entry) && entry.address() < chains.begin) {
          index.remove(hash, entry);
        }
      } else {
        long hash = hashes[random.nextInt(hashes.length)];
        newest.put(hash, push(index, chains, hash));
      }
    }
    checkAll(index, chains, hashes, newest, seed);
  }

  /** Hashes of all buckets, with one of thirty tags each, two of which are of two thirds. */
  private static long[] hashes(SplittableRandom random, long main) {
    int count = random.nextBoolean() ? 20 : 200;
    long[] tags = random.longs(30, 0, 1 << HashTag.BITS).toArray();
    tags[0] = (1 << HashTag.BITS) / 3;
    tags[1] = (2 << HashTag.BITS) / 3;
    return random
        .longs(count)
        .map(hash -> {
          long bucket = random.nextLong(main);
          long tagged = bucket << HashTag.BITS | tags[random.nextInt(tags.length)];
          int bits = HashTag.BITS + Long.numberOfTrailingZeros(main);
          return tagged << (Long.SIZE - bits) | hash >>> bits;
        })
        .toArray();
  }

  private static IndexGeometry resized(HashIndex index, boolean grow) {
    IndexGeometry geometry = index.soleTable().geometry();
    return grow ? geometry.doubled() : geometry.halved();
  }

  private static IndexGeometry grown(HashIndex index, int factor) {
    IndexGeometry geometry = index.soleTable().geometry();
    return new IndexGeometry(
        factor * geometry.mainBuckets(), factor * geometry.overflowBuckets(), geometry.tagBase());
  }

  private static void resize(HashIndex index, boolean grow, FakeChains chains) {
    resize(index, resized(index, grow), chains);
  }

  private static void resize(HashIndex index, IndexGeometry geometry, FakeChains chains) {
    resize(index, geometry, chains, () -> {});
  }

  /**
   * Resizes the index.
   *
   * @param between runs several times while a growth is under way
   */
  private static void resize(
      HashIndex index, IndexGeometry geometry, FakeChains chains, Runnable between) {
    Transition transition = index.beginResize(geometry, chains);
    IndexResize resize = transition.resize();
    assertThat(index.stableTable()).isNull();
    assertThat(resize.move(0)).as("moved before open()").isFalse();
    resize.open();
    for (int chunk = 0; chunk < resize.chunks(); chunk++) {
      if (!resize.needsLog()) {
        between.run();
        vacate(resize, chunk);
      }
      while (!resize.move(chunk)) {
        assertThat(resize.needsLog()).isTrue();
      }
      if (!resize.needsLog()) {
        between.run();
      }
    }
    assertThat(resize.chunksLeft()).isZero();
    assertThat(resize.from().entries()).as("not moved").isZero();
    index.endResize(transition);
    index.releaseOld(transition);
  }

  /** Closes and frees a chunk, and checks that only that moves it. */
  private static void vacate(IndexResize resize, int chunk) {
    assertThat(resize.move(chunk)).as("moved while in use").isFalse();
    long reopened = resize.close(chunk, chunk + 1);
    resize.reopen(chunk, chunk + 1, reopened);
    long early = resize.close(chunk, chunk + 1);
    long closed = resize.close(chunk, chunk + 1);
    resize.free(chunk, chunk + 1, reopened);
    resize.free(chunk, chunk + 1, early);
    assertThat(resize.move(chunk)).as("freed by an earlier attempt").isFalse();
    resize.free(chunk, chunk + 1, closed);
  }

  private void checkAll(
      HashIndex index, FakeChains chains, long[] hashes, Map<Long, Long> newest, long seed) {
    for (long hash : hashes) {
      long expected = newest.getOrDefault(hash, 0L);
      assertThat(index.enter(hash, entry)).isTrue();
      long found = index.find(hash, entry) ? chains.find(hash, entry.address()) : 0;
      assertThat(found)
          .as("seed=%d, hash=%x", seed, hash)
          .isEqualTo(expected < chains.begin ? 0 : expected);
    }
  }

  private long push(HashIndex index, FakeChains chains, long hash) {
    assertThat(index.enter(hash, entry)).isTrue();
    index.findOrCreate(hash, entry);
    long address = chains.append(hash, entry.address());
    boolean wasReopened = isReopened(entry, hash);
    if (!index.compareAndSet(entry, address)) {
      assertThat(wasReopened && !isReopened(entry, hash)).as("lacked room").isTrue();
      index.findOrCreate(hash, entry);
      address = chains.append(hash, entry.address());
      assertThat(index.compareAndSet(entry, address)).isTrue();
    }
    return address;
  }

  @Test
  void sharesATailAndForksWhereBothChainsHaveGrown() {
    FakeChains chains = new FakeChains(() -> false);
    HashIndex index = new HashIndex(arena, new IndexGeometry(1, 0, 2), 0);
    long left = 5;
    long right = 1L << 63 | 5;
    push(index, chains, left);
    push(index, chains, right);
    chains.head = 3;
    resize(index, true, chains);
    assertThat(index.soleTable().entries()).as("both lead to the tail on disk").isEqualTo(2);
    resize(index, false, chains);
    assertThat(chains.forks()).as("a common tail needs no fork").isZero();
    resize(index, true, chains);
    push(index, chains, left);
    push(index, chains, right);
    resize(index, false, chains);
    assertThat(chains.forks()).isEqualTo(1);
    index.enter(left, entry);
    assertThat(index.find(left, entry)).isTrue();
    assertThat(chains.find(left, entry.address())).isEqualTo(3);
    assertThat(chains.find(right, entry.address())).isEqualTo(4);
    resize(index, true, chains);
    index.enter(right, entry);
    assertThat(index.find(right, entry)).isTrue();
    assertThat(entry.address()).as("the split removes a fork in memory").isEqualTo(4);
  }

  @Test
  void aFullIndexIsNotSaturatedAnyMoreWhenItHasGrown() {
    FakeChains chains = new FakeChains(() -> false);
    HashIndex index = new HashIndex(arena, new IndexGeometry(1, 0), 0);
    for (long hash = 0; hash < 10; hash++) {
      push(index, chains, hash << 63 | hash << 49);
    }
    assertThat(index.soleTable().saturatedChains()).isEqualTo(1);
    resize(index, true, chains);
    assertThat(index.soleTable().saturatedChains()).isZero();
    assertThat(index.soleTable().entries()).isEqualTo(10);
  }

  @Test
  void aSaturatedChainOnDiskIsReopenedByAGrowth() {
    FakeChains chains = new FakeChains(() -> false);
    long[] hashes = ofTags(40);
    Map<Long, Long> newest = new HashMap<>();
    HashIndex index = reopened(chains, hashes, newest, 5);
    assertThat(index.soleTable().saturatedChains()).isEqualTo(2);
    assertThat(index.soleTable().entries()).as("those of the old bucket, twice").isEqualTo(14);
    checkAll(index, chains, hashes, newest, 0);
    pushAll(index, chains, hashes, newest);
    assertThat(index.soleTable().entries()).as("one for each tag").isEqualTo(40 + 7);
    checkAll(index, chains, hashes, newest, 0);
    for (long hash : hashes) {
      index.enter(hash, entry);
      assertThat(index.find(hash, entry)).isTrue();
      assertThat(entry.address()).as("nothing above it").isEqualTo(newest.get(hash));
    }
    chains.begin = chains.head;
    resize(index, true, chains);
    assertThat(index.soleTable().saturatedChains()).as("all shared chains have ended").isZero();
    checkAll(index, chains, hashes, newest, 0);
  }

  private static boolean isReopened(IndexEntry entered, long hash) {
    IndexTable table = entered.table();
    long bucket = table.mainBucket(hash);
    return BucketLayout.isReopened(
        Words.loadVolatile(table.memory(), bucket + BucketLayout.OVERFLOW));
  }

  /** Otherwise a thread that still holds what it has inherited would hide a delete. */
  @Test
  void anEntryIsNotFreedWhileItsTagWouldInheritAgain() {
    FakeChains chains = new FakeChains(() -> false);
    long[] hashes = ofTags(8);
    HashIndex index = reopened(chains, hashes, new HashMap<>(), 2);
    long hash = hashes[7];
    long sharing = hashes[0];
    IndexEntry stale = new IndexEntry();
    index.enter(hash, stale);
    assertThat(index.find(hash, stale)).isTrue();
    long inherited = stale.address();
    push(index, chains, sharing);
    push(index, chains, hash);
    chains.begin = inherited;
    index.soleTable().dropped(chains.begin);
    index.find(hash, entry);
    assertThat(index.remove(hash, entry)).as("it would inherit again").isFalse();
    assertThat(index.compareAndSet(stale, 4711)).isFalse();
    chains.begin = chains.head;
    index.soleTable().dropped(chains.begin);
    assertThat(index.remove(hash, entry)).isTrue();
    assertThat(index.find(hash, entry)).as("it inherits nothing").isFalse();
    assertThat(index.compareAndSet(stale, 4711)).as("nor did it").isFalse();
    push(index, chains, hash);
    assertThat(chains.find(hash, chains.size())).isEqualTo(chains.size());
  }

  @Test
  void aReopenedChainThatLacksRoomIsSaturatedAgain() {
    FakeChains chains = new FakeChains(() -> false);
    long[] hashes = ofTags(40);
    Map<Long, Long> newest = new HashMap<>();
    HashIndex index = reopened(chains, hashes, newest, 1);
    pushAll(index, chains, hashes, newest);
    pushAll(index, chains, hashes, newest);
    assertThat(index.soleTable().entries()).as("two full buckets").isEqualTo(14 + 7);
    checkAll(index, chains, hashes, newest, 0);
    resize(index, new IndexGeometry(1, 2, 1), chains);
    checkAll(index, chains, hashes, newest, 0);
  }

  /** An entry of a chain that is saturated again may be freed. */
  @Test
  void whatATagHasInheritedIsNotUsedWhenItsChainIsSaturatedAgain() {
    FakeChains chains = new FakeChains(() -> false);
    long[] hashes = ofTags(16);
    HashIndex index = reopened(chains, hashes, new HashMap<>(), 1);
    IndexEntry stale = new IndexEntry();
    index.enter(hashes[7], stale);
    assertThat(index.find(hashes[7], stale)).isTrue();
    pushAll(index, chains, hashes, new HashMap<>());
    index.enter(hashes[7], entry);
    assertThat(isReopened(entry, hashes[7])).isFalse();
    assertThat(index.find(hashes[7], entry)).isTrue();
    assertThat(index.remove(hashes[7], entry)).isTrue();
    assertThat(index.compareAndSet(stale, 4711)).isFalse();
  }

  private static long[] ofTags(int count) {
    return LongStream.range(0, count).map(tag -> tag << (Long.SIZE - HashTag.BITS)).toArray();
  }

  /** An index of two buckets; the first one's chains were one that was full, and are on disk. */
  private HashIndex reopened(
      FakeChains chains, long[] hashes, Map<Long, Long> newest, long overflow) {
    HashIndex index = new HashIndex(arena, new IndexGeometry(1, 0), 0);
    pushAll(index, chains, hashes, newest);
    chains.head = chains.size() + 1;
    resize(index, new IndexGeometry(2, overflow, 1), chains);
    return index;
  }

  private void pushAll(HashIndex index, FakeChains chains, long[] hashes, Map<Long, Long> newest) {
    for (long hash : hashes) {
      newest.put(hash, push(index, chains, hash));
    }
  }

  /** Buckets that the old table takes during a growth are reserved in the new one. */
  @Test
  void aGrowthUnderWayNeverLacksOverflowBuckets() {
    FakeChains chains = new FakeChains(() -> false);
    HashIndex index = new HashIndex(arena, new IndexGeometry(1, 3), 0);
    Map<Long, Long> newest = new HashMap<>();
    long[] hashes = ofTags(40);
    Transition transition = index.beginResize(new IndexGeometry(2, 6, 1), chains);
    IndexResize resize = transition.resize();
    resize.open();
    for (long hash : hashes) {
      newest.put(hash, push(index, chains, hash));
    }
    assertThat(resize.from().overflowBucketsUsed()).isEqualTo(3);
    vacate(resize, 0);
    assertThat(index.enter(hashes[0], entry)).as("an operation moves a free chunk").isTrue();
    assertThat(resize.chunksLeft()).isZero();
    index.endResize(transition);
    index.releaseOld(transition);
    checkAll(index, chains, hashes, newest, 0);
  }

  @Test
  void aClosedChunkRefusesOperationsAndOthersAreInUse() {
    FakeChains chains = new FakeChains(() -> false);
    HashIndex index = new HashIndex(arena, new IndexGeometry(128, 0), 0);
    long inFirst = 1;
    long inLast = -1L << 14 | 1;
    Transition transition = index.beginResize(resized(index, true), chains);
    assertThat(index.enter(inFirst, entry)).as("before open()").isFalse();
    transition.resize().open();
    long closed = transition.resize().close(0, 1);
    assertThat(index.enter(inFirst, entry)).isFalse();
    assertThat(index.enter(inLast, entry)).isTrue();
    assertThat(entry.table).isSameAs(transition.resize().from());
    transition.resize().free(0, 1, closed);
    assertThat(index.enter(inFirst, entry)).isTrue();
    assertThat(entry.table).isSameAs(transition.resize().to());
  }

  @Test
  void entriesAreCountedOnceWhileTheyAreMoved() {
    FakeChains chains = new FakeChains(() -> false);
    HashIndex index = new HashIndex(arena, new IndexGeometry(128, 0), 0);
    // Four tags in each bucket.
    for (long hash = 0; hash < 512; hash++) {
      push(index, chains, hash << Long.SIZE - 9);
    }
    assertThat(index.entries()).isEqualTo(512);
    for (boolean grow : new boolean[] {true, false}) {
      Transition transition = index.beginResize(resized(index, grow), chains);
      IndexResize resize = transition.resize();
      resize.open();
      for (int chunk = 0; chunk < resize.chunks(); chunk++) {
        if (grow) {
          vacate(resize, chunk);
        }
        assertThat(resize.move(chunk)).isTrue();
        assertThat(index.entries()).as("chunk %d", chunk).isEqualTo(512);
      }
      index.endResize(transition);
      index.releaseOld(transition);
      assertThat(index.entries()).isEqualTo(512);
    }
  }

  @Test
  void returnsItsMemory() {
    FakeChains chains = new FakeChains(() -> false);
    HashIndex index = new HashIndex(arena, new IndexGeometry(4, 2), 0);
    long before = budget.usedBytes();
    resize(index, true, chains);
    assertThat(budget.usedBytes()).isEqualTo(2 * before);
    resize(index, false, chains);
    assertThat(budget.usedBytes()).isEqualTo(before);
  }

  @Test
  void refusesASizeThatDoesNotFitAndContinues() {
    FakeChains chains = new FakeChains(() -> false);
    HashIndex index = new HashIndex(arena, new IndexGeometry(6000, 2000), 0);
    long used = budget.usedBytes();
    push(index, chains, 17);
    assertThatThrownBy(() -> index.beginResize(resized(index, true), chains))
        .isInstanceOf(OutOfBudget.class)
        .hasMessageContaining("hash index")
        .hasMessageContaining("bytes=" + 2 * used)
        .hasMessageContaining("free=" + (budget.limitBytes() - used));
    assertThat(budget.usedBytes()).isEqualTo(used);
    assertThat(index.stableTable()).isNotNull();
    assertThat(push(index, chains, 17)).isEqualTo(2);
  }

  @Test
  void refusesToHalveAnOddNumberOfBuckets() {
    HashIndex index = new HashIndex(arena, new IndexGeometry(3, 1), 0);
    assertThatThrownBy(() -> resized(index, false))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("mainBuckets=3, allowed=an even number");
    assertThat(index.stableTable()).isNotNull();
  }
}
