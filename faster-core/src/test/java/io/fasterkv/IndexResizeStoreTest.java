package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.statistics.IndexStatistics;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how growing and shrinking a store's index affects data on disk, budget and checkpoints. */
class IndexResizeStoreTest {
  private static final int KEYS = 2000;
  private static final int PAGE_BYTES = 4096;

  @TempDir Path directory;

  private StoreConfigBuilder builder() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(8 * PAGE_BYTES)
        .indexBytes(64 * 64)
        .segmentBytes(4 * PAGE_BYTES)
        .recordKind(RecordKind.LONGS);
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private static void addToAll(FasterStore store, long amount) {
    try (LongSession<Void> session = session(store)) {
      for (long key = 0; key < KEYS; key++) {
        session.rmw(key, amount, null);
      }
    }
  }

  private static void checkAll(FasterStore store, long expected) {
    try (LongSession<Void> session = session(store)) {
      for (long key = 0; key < KEYS; key++) {
        assertThat(session.read(key, null)).as("key %d", key).isEqualTo(Status.FOUND);
        assertThat(session.value()).as("key %d", key).isEqualTo(expected);
      }
    }
  }

  /** Fills memory with other records, so that all earlier records are only on disk. */
  private static void evict(FasterStore store) {
    long end = Insides.engine(store).log().tailAddress();
    try (LongSession<Void> session = session(store)) {
      for (long key = KEYS; Insides.engine(store).log().headAddress() < end; key++) {
        session.upsert(key, key, null);
      }
    }
  }

  @Test
  void growsAndShrinksWithAllDataOnDisk() {
    try (FasterStore store = FasterStore.open(builder().build())) {
      addToAll(store, 1);
      evict(store);
      for (int doublings = 0; doublings < 3; doublings++) {
        store.index().grow();
        checkAll(store, 1);
      }
      StoreInvariants.check(store);
      addToAll(store, 2);
      evict(store);
      for (int halvings = 0; halvings < 5; halvings++) {
        store.index().shrink();
        evict(store);
        checkAll(store, 3);
      }
      StoreInvariants.check(store);
      addToAll(store, 4);
      checkAll(store, 7);
      StoreInvariants.check(store);
    }
  }

  /** An entry's tag tells its part of a bucket, although its records are on disk. */
  @Test
  void entriesOfRecordsOnDiskAreNotDoubled() {
    try (FasterStore store = FasterStore.open(builder().indexBytes(64 << 10).build())) {
      addToAll(store, 1);
      evict(store);
      long entries = store.statistics().index().entries();
      long tail = Insides.engine(store).log().tailAddress();
      for (int doublings = 0; doublings < 3; doublings++) {
        store.index().grow();
        assertThat(store.statistics().index().entries()).isEqualTo(entries);
      }
      checkAll(store, 1);
      for (int halvings = 0; halvings < 3; halvings++) {
        store.index().shrink();
        assertThat(store.statistics().index().entries()).isEqualTo(entries);
      }
      assertThat(Insides.engine(store).log().tailAddress()).as("no forks").isEqualTo(tail);
      checkAll(store, 1);
      StoreInvariants.check(store);
    }
  }

  /** An index that was full when it got memory: its keys leave the shared chains when written. */
  @Test
  void updatedKeysLeaveTheSharedChainsAfterAGrowth() {
    try (FasterStore store = FasterStore.open(builder().build())) {
      addToAll(store, 1);
      evict(store);
      assertThat(store.statistics().index().saturatedChains()).isPositive();
      store.index().resize(256 << 10);
      assertThat(store.statistics().index().saturatedChains()).isPositive();
      long shared = recordsFromDisk(store, () -> checkAll(store, 1));
      addToAll(store, 1);
      evict(store);
      StoreInvariants.check(store);
      long own = recordsFromDisk(store, () -> checkAll(store, 2));
      assertThat(shared).as("several keys to a chain").isGreaterThan(3 * KEYS);
      assertThat(own).as("hardly more than a read a key").isLessThan(KEYS + KEYS / 4);
    }
  }

  private static long recordsFromDisk(FasterStore store, Runnable reads) {
    long before = store.statistics().index().recordsFromDisk();
    reads.run();
    return store.statistics().index().recordsFromDisk() - before;
  }

  /** Keys leave the shared chains before a checkpoint and after its recovery. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCheckpointOfAReopenedIndexIsRecovered(boolean isLastUpdateLost) {
    StoreConfig config = builder().build();
    try (FasterStore store = FasterStore.open(config)) {
      addToAll(store, 1);
      evict(store);
      store.index().resize(32 << 10);
      addToSome(store, 1);
      assertThat(store.statistics().index().saturatedChains()).isPositive();
      if (isLastUpdateLost) {
        store.checkpoints().take();
        addToSome(store, 1);
      } else {
        addToSome(store, 1);
        store.checkpoints().take();
      }
    }
    int amount = isLastUpdateLost ? 2 : 3;
    try (FasterStore store = FasterStore.recover(config)) {
      StoreInvariants.check(store);
      checkSome(store, amount);
      long entries = store.statistics().index().entries();
      addToAll(store, 1);
      assertThat(store.statistics().index().entries()).as("still reopened").isGreaterThan(entries);
      addToSome(store, 1);
      checkSome(store, amount + 2);
      store.log().compact();
      store.index().grow();
      checkSome(store, amount + 2);
      store.index().shrink();
      store.index().shrink();
      checkSome(store, amount + 2);
      StoreInvariants.check(store);
    }
  }

  /** Every third key. */
  private static void addToSome(FasterStore store, long amount) {
    try (LongSession<Void> session = session(store)) {
      for (long key = 0; key < KEYS; key += 3) {
        session.rmw(key, amount, null);
      }
    }
  }

  private static void checkSome(FasterStore store, long expected) {
    try (LongSession<Void> session = session(store)) {
      for (long key = 0; key < KEYS; key += 3) {
        assertThat(session.read(key, null)).as("key %d", key).isEqualTo(Status.FOUND);
        assertThat(session.value()).as("key %d", key).isEqualTo(expected);
      }
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void twentyFourCyclesLoseNothingAndGrowNothing(boolean inMemory) {
    StoreConfig config =
        builder()
            .logMemoryBytes(inMemory ? 128 * PAGE_BYTES : 8 * PAGE_BYTES)
            .deleteOnClose(true)
            .build();
    try (FasterStore store = FasterStore.open(config)) {
      long memory = store.statistics().memoryBytes();
      addToAll(store, 1);
      store.log().cut().close();
      store.log().compact();
      long logBytes = store.statistics().logBytes();
      for (int cycle = 1; cycle <= 24; cycle++) {
        store.index().grow();
        addToAll(store, 1);
        store.index().shrink();
        checkAll(store, 1 + cycle);
        assertThat(store.statistics().memoryBytes()).isEqualTo(memory);
        store.log().cut().close();
        store.log().compact();
        assertThat(store.statistics().logBytes())
            .as("cycle %d", cycle)
            .isLessThan(2 * logBytes + config.logMemoryBytes());
      }
      StoreInvariants.check(store);
    }
  }

  @Test
  void anIndexThatDoesNotFitIsRefusedAndTheStoreContinues() {
    StoreConfig config = builder().memoryBytes(256 << 10).indexBytes(100 << 10).build();
    try (FasterStore store = FasterStore.open(config)) {
      addToAll(store, 1);
      long memory = store.statistics().memoryBytes();
      assertThatThrownBy(store.index()::grow)
          .isInstanceOf(OutOfBudget.class)
          .hasMessageContaining("purpose=hash index")
          .hasMessageContaining("memoryBytes=" + (256 << 10));
      assertThat(store.statistics().memoryBytes()).isEqualTo(memory);
      checkAll(store, 1);
      StoreInvariants.check(store);
      assertThat(store.index().shrink()).isEqualTo(50 << 10);
      checkAll(store, 1);
    }
  }

  @Test
  void growsToItsReservedMemory() {
    StoreConfig config =
        builder().memoryBytes(512 << 10).logMemoryBytes(128 << 10).maxIndexBytes(64 << 10).build();
    assertThat(config.indexBytes()).isEqualTo(64 * 64);
    try (FasterStore store = FasterStore.open(config)) {
      addToAll(store, 1);
      assertThat(store.index().resize(64 << 10)).isEqualTo(64 << 10);
      checkAll(store, 1);
      assertThat(store.statistics().index().saturatedChains()).isZero();
      assertThat(store.index().resize(10 << 10)).isEqualTo(8 << 10);
      checkAll(store, 1);
      assertThatThrownBy(() -> store.index().resize(64))
          .isInstanceOf(BadConfig.class)
          .hasMessageContaining("bytes=64, allowed=128 and above");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, -2})
  void aCheckpointIsRecoveredInItsSize(int doublings) {
    StoreConfig config = builder().build();
    IndexStatistics before;
    try (FasterStore store = FasterStore.open(config)) {
      addToAll(store, 1);
      for (int i = 0; i < Math.abs(doublings); i++) {
        long bytes = doublings > 0 ? store.index().grow() : store.index().shrink();
        assertThat(bytes).isPositive();
      }
      addToAll(store, 1);
      store.checkpoints().take();
      before = store.statistics().index();
    }
    try (FasterStore store = FasterStore.recover(config)) {
      IndexStatistics after = store.statistics().index();
      assertThat(after.mainBuckets()).isEqualTo(before.mainBuckets());
      assertThat(after.entries()).isEqualTo(before.entries());
      assertThat(after.saturatedChains()).isEqualTo(before.saturatedChains());
      assertThat(after.overflowBucketsUsed()).isEqualTo(before.overflowBucketsUsed());
      checkAll(store, 2);
      store.index().grow();
      checkAll(store, 2);
      StoreInvariants.check(store);
    }
  }

  @Test
  void anImageThatDoesNotFitTheBudgetIsRefused() {
    try (FasterStore store = FasterStore.open(builder().build())) {
      store.index().resize(256 << 10);
      store.checkpoints().take();
    }
    StoreConfig small = builder().memoryBytes(128 << 10).build();
    assertThatThrownBy(() -> FasterStore.recover(small))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("the checkpoint's index does not fit")
        .hasMessageContaining(
            "room=" + (small.memoryBytes() - small.logMemoryBytes() - small.scratchBytes()));
  }

  @Test
  void reportsTheIndexWithoutReadingIt() {
    try (FasterStore store = FasterStore.open(builder().indexBytes(256 * 64).build())) {
      IndexStatistics empty = store.statistics().index();
      assertThat(empty.mainBuckets()).isEqualTo(192);
      assertThat(empty.overflowBuckets()).isEqualTo(64);
      assertThat(empty.bytes()).isEqualTo(256 * 64);
      assertThat(empty.entries() + empty.walks() + empty.overflowBucketsUsed()).isZero();
      assertThat(empty.recordsPerWalk()).isZero();
      try (LongSession<Void> session = session(store)) {
        for (long key = 0; key < 500; key++) {
          session.upsert(key, key, null);
        }
        IndexStatistics filled = store.statistics().index();
        assertThat(filled.entries()).isEqualTo(500);
        assertThat(filled.load()).isEqualTo(500 / (7.0 * 192));
        for (long key = 0; key < 100; key++) {
          session.delete(key, null);
        }
        assertThat(store.statistics().index().entries()).isEqualTo(400);
      }
      evict(store);
      IndexStatistics evicted = store.statistics().index();
      for (long key = 100; key < 500; key++) {
        checkKey(store, key, key);
      }
      IndexStatistics read = store.statistics().index();
      assertThat(read.walks() - evicted.walks()).isEqualTo(400);
      assertThat(read.recordsFromDisk() - evicted.recordsFromDisk()).isGreaterThanOrEqualTo(400);
      assertThat(read.recordsPerWalk()).isPositive();
    }
  }

  enum Change {
    GROW,
    SHRINK
  }

  /** An operation in progress keeps the old table; its effect is not lost. */
  @ParameterizedTest
  @EnumSource(Change.class)
  void waitsForAnOperationUnderWayAndKeepsItsUpdate(Change change) {
    try (FasterStore store = FasterStore.open(builder().build())) {
      addToAll(store, 1);
      Pause pause = new Pause();
      AtomicBoolean isOver = new AtomicBoolean();
      pause.start(() -> {
        try (LongSession<Void> slow = store.newSession().longs(new SlowSum(pause))) {
          slow.rmw(KEYS + 1, 1, null);
        }
        isOver.set(true);
      });
      Thread resize = Pause.begin(() -> resize(store, change));
      Pause.awaitWaiting(resize);
      assertThat(Insides.engine(store).index().stableTable()).isNull();
      Thread reader = Pause.begin(() -> checkAll(store, 1));
      Pause.awaitWaiting(reader);
      assertThat(isOver).isFalse();
      pause.finish();
      Pause.join(resize);
      Pause.join(reader);
      checkKey(store, KEYS + 1, 1);
      StoreInvariants.check(store);
    }
  }

  private static void resize(FasterStore store, Change change) {
    if (change == Change.GROW) {
      store.index().grow();
    } else {
      store.index().shrink();
    }
  }

  private static void checkKey(FasterStore store, long key, long value) {
    try (LongSession<Void> session = session(store)) {
      assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
      assertThat(session.value()).isEqualTo(value);
    }
  }

  /** A sum that stops while it creates a key's first record. */
  private record SlowSum(Pause pause) implements LongFunctions<Void> {
    @Override
    public long initialUpdater(long key, long input) {
      pause.here();
      return input;
    }

    @Override
    public long updater(long key, long input, long value) {
      return value + input;
    }
  }

  /** All threads add to all keys while the index grows and shrinks; no increment is lost. */
  @ParameterizedTest
  @ValueSource(ints = {4, 128})
  void sumsAreRightWhateverTheIndexDoes(int logPages) {
    StoreConfig config =
        builder().logMemoryBytes((long) logPages * PAGE_BYTES).deleteOnClose(true).build();
    int rounds = 6;
    int threads = 3;
    try (FasterStore store = FasterStore.open(config)) {
      Crew crew = new Crew("logPages " + logPages, () -> Insides.marks(store));
      for (int thread = 0; thread < threads; thread++) {
        crew.add(() -> {
          for (int round = 0; round < rounds; round++) {
            addToAll(store, 1);
          }
          crew.end();
        });
      }
      crew.add(() -> {
        while (!crew.isOver()) {
          store.index().grow();
          store.index().grow();
          store.index().shrink();
          store.log().compact();
          store.index().shrink();
        }
      });
      crew.run();
      checkAll(store, (long) rounds * threads);
      StoreInvariants.check(store);
    }
  }
}
