package io.fasterkv.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.memory.Words;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the index against a map. Each hash has a list of records. Since tags share entries when a
 * chain is full, the model follows the records' links as the log would, and looks for its own
 * records.
 */
class IndexTableTest {
  private static final int STEPS = 5000;
  private static final int THREADS = 4;
  private static final int PUSHES = 5000;

  private final OffHeapArena arena = new OffHeapArena(new MemoryBudget(1 << 20));
  private final IndexEntry entry = new IndexEntry();

  /** The parts of a log record that the index needs; its address is its position plus 1. */
  private record Linked(long hash, long previous) {}

  private final List<Linked> records = new ArrayList<>();

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void findsNothingInAnEmptyIndex() {
    assertThat(new IndexTable(arena, new IndexGeometry(4, 1), 0).find(17, entry)).isFalse();
  }

  @Test
  void findsWhatItInserted() {
    IndexTable index = new IndexTable(arena, new IndexGeometry(4, 1), 0);
    index.findOrCreate(17, entry);
    assertThat(entry.address()).isZero();
    assertThat(index.compareAndSet(entry, 4711)).isTrue();
    assertThat(index.compareAndSet(entry, 4712)).as("the entry has changed").isFalse();
    assertThat(index.find(17, entry)).isTrue();
    assertThat(entry.address()).isEqualTo(4711);
    assertThat(index.remove(17, entry)).isTrue();
    assertThat(index.find(17, entry)).isFalse();
  }

  /** Many threads, few tags: each tag ends up with one entry, which has the highest address. */
  @Test
  void concurrentRaisesLeaveTheHighestAddress() throws Exception {
    long seed = Long.getLong("faster.seed", System.nanoTime());
    long[] hashes = distinctTags(seed, 40, 2);
    IndexTable index = new IndexTable(arena, new IndexGeometry(2, 20), 0);
    AtomicLongArray highest = new AtomicLongArray(hashes.length);
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> ends = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        SplittableRandom random = new SplittableRandom(seed + thread);
        ends.add(
            threads.submit(() -> {
              IndexFill fill =
                  new IndexFill(index, address -> new IllegalStateException("seed=" + seed));
              for (int i = 0; i < PUSHES; i++) {
                int number = random.nextInt(hashes.length);
                long address = random.nextLong(1, 1L << 40);
                fill.add(hashes[number], address);
                highest.accumulateAndGet(number, address, Math::max);
              }
              fill.finish();
            }));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    }
    for (int i = 0; i < hashes.length; i++) {
      assertThat(index.find(hashes[i], entry)).as("seed %d", seed).isTrue();
      assertThat(entry.address()).as("seed %d", seed).isEqualTo(highest.get(i));
    }
    assertThat(index.entries()).as("seed %d", seed).isEqualTo(hashes.length);
  }

  /** Random hashes of which no two can share an entry, even if they are in different buckets. */
  private static long[] distinctTags(long seed, int count, long mainBuckets) {
    Set<Long> tags = new HashSet<>();
    return new SplittableRandom(seed)
        .longs()
        .filter(hash -> tags.add(BucketLayout.entry(hash, mainBuckets)))
        .limit(count)
        .toArray();
  }

  @ParameterizedTest
  @CsvSource({"1,0", "1,1", "2,0", "2,1", "4,3", "16,4", "3,2"})
  void agreesWithAMapEvenWhenItIsFull(long mainBuckets, long overflowBuckets) {
    long seed = Long.getLong("faster.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    IndexTable index = new IndexTable(arena, new IndexGeometry(mainBuckets, overflowBuckets), 0);
    long[] hashes = random.longs(100).toArray();
    Map<Long, Long> newest = new HashMap<>();
    for (int step = 0; step < STEPS; step++) {
      long hash = hashes[random.nextInt(hashes.length)];
      if (random.nextBoolean()) {
        newest.put(hash, push(index, hash));
      }
      assertThat(lookUp(index, hash))
          .as("seed=%d, hash=%d", seed, hash)
          .isEqualTo(newest.getOrDefault(hash, 0L));
    }
    assertThat(index.overflowBucketsUsed()).isLessThanOrEqualTo(overflowBuckets);
    assertNoTagTwice(index, mainBuckets, seed);
  }

  @Test
  void agreesWithAMapWhenEntriesAreRemoved() {
    long seed = Long.getLong("faster.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    IndexTable index = new IndexTable(arena, new IndexGeometry(1, 2), 0);
    IndexView view = IndexView.of(index);
    Map<Long, Long> newest = new HashMap<>();
    for (int step = 0; step < STEPS; step++) {
      // Twenty tags in twenty-one entries: never full, so that no entry is shared.
      long hash = (long) random.nextInt(20) << (Long.SIZE - BucketLayout.TAG_BITS);
      switch (random.nextInt(3)) {
        case 0 -> newest.put(hash, push(index, hash));
        case 1 -> {
          assertThat(index.find(hash, entry))
              .as("seed=%d", seed)
              .isEqualTo(newest.containsKey(hash));
          if (newest.remove(hash) != null) {
            assertThat(index.remove(hash, entry)).isTrue();
          }
        }
        default ->
            assertThat(lookUp(index, hash))
                .as("seed=%d, hash=%d", seed, hash)
                .isEqualTo(newest.getOrDefault(hash, 0L));
      }
      assertThat(view.address(view.bucket(hash), hash))
          .as("seed=%d, hash=%d, the address without an entry", seed, hash)
          .isEqualTo(index.find(hash, entry) ? entry.address() : 0);
    }
    assertNoTagTwice(index, 1, seed);
  }

  @Test
  void anUnprotectedLoadOfAFreedTableThrows() {
    IndexView view;
    try (OffHeapArena freed = arena.part()) {
      view = IndexView.of(new IndexTable(freed, new IndexGeometry(4, 1), 0));
      assertThat(view.loadUnprotected(-1)).isZero();
    }
    assertThatThrownBy(() -> view.loadUnprotected(-1)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aHigherHashIsNotInALowerBucket() {
    IndexTable index = new IndexTable(arena, new IndexGeometry(4, 0), 0);
    long last = -1;
    for (long hash : new long[] {0, 1L << 61, 1L << 62, Long.MAX_VALUE, 1L << 63, -1}) {
      index.findOrCreate(hash, entry);
      long bucket = entry.offset / BucketLayout.BYTES;
      assertThat(bucket).isGreaterThanOrEqualTo(last);
      last = bucket;
    }
    assertThat(last).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource({"1,0", "1,1", "1,4", "2,3"})
  void threadsThatGrowAndSaturateChainsLoseNoRecord(long mainBuckets, long overflowBuckets)
      throws Exception {
    for (int round = 0; round < 20; round++) {
      IndexTable index = new IndexTable(arena, new IndexGeometry(mainBuckets, overflowBuckets), 0);
      long[] previous = new long[THREADS * PUSHES + 1];
      inThreads(index, previous);
      assertThat(reachable(index, previous)).hasSize(THREADS * PUSHES);
      assertNoTagTwice(index, mainBuckets, round);
    }
  }

  private static void inThreads(IndexTable index, long[] previous) throws Exception {
    List<Future<?>> futures = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        futures.add(threads.submit(() -> pushMany(index, previous, thread)));
      }
    }
    for (Future<?> future : futures) {
      future.get();
    }
  }

  private static void pushMany(IndexTable index, long[] previous, int thread) {
    IndexEntry mine = new IndexEntry();
    for (int push = 0; push < PUSHES; push++) {
      int address = 1 + thread * PUSHES + push;
      do {
        index.findOrCreate(hash(push), mine);
        previous[address] = mine.address();
      } while (!index.compareAndSet(mine, address));
    }
  }

  /** All threads use the same forty hashes, in the same order. */
  private static long hash(int push) {
    return (push % 40) * 0x9E3779B97F4A7C15L;
  }

  private Set<Long> reachable(IndexTable index, long[] previous) {
    Set<Long> addresses = new HashSet<>();
    for (int push = 0; push < 40; push++) {
      assertThat(index.find(hash(push), entry)).isTrue();
      for (long at = entry.address(); at != 0 && addresses.add(at); at = previous[(int) at]) {
        assertThat(at).isPositive();
      }
    }
    return addresses;
  }

  private long push(IndexTable index, long hash) {
    index.findOrCreate(hash, entry);
    records.add(new Linked(hash, entry.address()));
    assertThat(index.compareAndSet(entry, records.size())).isTrue();
    return records.size();
  }

  /** The newest record of a hash in its entry's chain, or 0. */
  private long lookUp(IndexTable index, long hash) {
    if (!index.find(hash, entry)) {
      return 0;
    }
    long at = entry.address();
    while (at != 0 && records.get((int) at - 1).hash() != hash) {
      at = records.get((int) at - 1).previous();
    }
    return at;
  }

  private static void assertNoTagTwice(IndexTable index, long mainBuckets, long seed) {
    for (long main = 0; main < mainBuckets; main++) {
      Set<Long> tags = new HashSet<>();
      long bucket = main;
      do {
        long from = bucket * BucketLayout.BYTES;
        for (long at = from; at < from + BucketLayout.OVERFLOW; at += Long.BYTES) {
          long word = Words.loadVolatile(index.memory(), at);
          assertThat(BucketLayout.isTentative(word)).as("seed=%d", seed).isFalse();
          assertThat(word == 0 || tags.add(BucketLayout.withAddress(word, 0)))
              .as("a tag has two entries: seed=%d", seed)
              .isTrue();
        }
        bucket =
            BucketLayout.nextBucket(
                Words.loadVolatile(index.memory(), from + BucketLayout.OVERFLOW));
      } while (bucket != 0);
    }
  }
}
