package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.LogPiece;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.RecoveryRequest;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.memory.ResidentPages;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An index that is nearly full gets memory of the log's while the store is used. */
class IndexLoansTest {
  private static final long MEMORY_BYTES = 2 << 20;
  private static final long LOG_BYTES = 1 << 20;
  private static final long INDEX_BYTES = 512 << 10;

  /** More than the index has entries when it has got all that it can get. */
  private static final int KEYS = 200_000;

  /** As many as the index has entries without the log's memory, nearly. */
  private static final int FEW = 30_000;

  private static final int MORE = 15_000;
  private static final int THREADS = 3;
  private static final long PAUSE_NANOS = 100_000;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  private StoreConfig.Builder config(int halvings) {
    return StoreConfig.builder(directory)
        .memoryBytes(MEMORY_BYTES)
        .logMemoryBytes(LOG_BYTES)
        .indexBytes(INDEX_BYTES)
        .pageBytes(4096)
        .segmentBytes(64 << 10)
        .logHalvings(halvings)
        .recordKind(RecordKind.LONGS);
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING);
  }

  private static void add(FasterStore store, int from, int until) {
    try (LongSession<Void> session = session(store)) {
      for (int key = from; key < until; key++) {
        session.rmw(key, key, null);
      }
    }
  }

  /** Not faster than the log can give its memory up; returns how many keys there are. */
  private static int addUntilLogHas(FasterStore store, int from, long bytes) {
    int keys = from;
    try (LongSession<Void> session = session(store)) {
      for (; store.memoryUse().logBytes() > bytes; keys++) {
        session.rmw(keys, keys, null);
        if (Insides.engine(store).index().newestTable().isOverflowScarce()) {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    }
    return keys;
  }

  /** Reads of the disk that it takes to look all keys up. */
  private static long check(FasterStore store, int keys) {
    long before = store.indexStatistics().recordsFromDisk();
    try (LongSession<Void> session = session(store)) {
      for (long key = 0; key < keys; key++) {
        assertThat(session.read(key, null)).as("key %d", key).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(key);
      }
    }
    return store.indexStatistics().recordsFromDisk() - before;
  }

  @Test
  void theLogGivesHalfOfItsMemoryWhenTheIndexIsNearlyFull() throws IOException {
    try (FasterStore store = FasterStore.open(config(2).build())) {
      long index = store.indexStatistics().bytes();
      long used = store.memoryBytes();
      add(store, 0, FEW);
      assertThat(store.memoryUse().logBytes()).as("there is room").isEqualTo(LOG_BYTES);
      int keys = addUntilLogHas(store, FEW, LOG_BYTES / 2);
      assertThat(store.indexStatistics().saturatedChains()).isZero();
      assertThat(store.memoryUse().logBytes()).isEqualTo(LOG_BYTES / 2);
      assertThat(store.indexStatistics().bytes()).isEqualTo(index + LOG_BYTES / 2);
      assertThat(store.memoryUse().indexBytes()).isEqualTo(index + LOG_BYTES / 2);
      assertThat(store.memoryBytes()).isLessThanOrEqualTo(used);
      assertThat(ResidentPages.bytes(Insides.engine(store).log().memory()))
          .isLessThanOrEqualTo(LOG_BYTES / 2);
      check(store, keys);
      keys = addUntilLogHas(store, keys, LOG_BYTES / 4);
      assertThat(store.memoryUse().logBytes()).isEqualTo(LOG_BYTES / 4);
      assertThat(store.indexStatistics().saturatedChains()).isZero();
      assertThat(ResidentPages.bytes(Insides.engine(store).log().memory()))
          .isLessThanOrEqualTo(LOG_BYTES / 4);
      add(store, keys, KEYS);
      check(store, KEYS);
      StoreInvariants.check(store);
      assertThat(store.memoryUse().logBytes()).as("no more than that").isEqualTo(LOG_BYTES / 4);
    }
  }

  /** Budgets are seldom whole pages. */
  @Test
  void anIndexOfAnySizeCanGetMemory() {
    for (int buckets = 1; buckets < 64; buckets += 20) {
      StoreConfig.Builder config = config(1).indexBytes(INDEX_BYTES - buckets * 64L);
      try (FasterStore store = FasterStore.open(config.deleteOnClose(true).build())) {
        assertThat(Insides.engine(store).index().canTakeOver()).isTrue();
        assertThat(Insides.engine(store).log().canHalve()).isTrue();
      }
    }
  }

  /** A look-up of what is in memory takes none of the index's room, and would take a read. */
  @Test
  void theLogKeepsItsMemoryWhileItHasWhatIsLookedUp() {
    try (FasterStore store = FasterStore.open(config(1).build());
        LongSession<Void> session = session(store)) {
      for (int key = 0; key < KEYS; key++) {
        session.rmw(key, key, null);
        session.read(key - key % 100, null);
      }
      assertThat(Insides.engine(store).index().newestTable().isOverflowScarce()).isTrue();
      assertThat(store.memoryUse().logBytes()).isEqualTo(LOG_BYTES);
      for (int key = 0; store.memoryUse().logBytes() == LOG_BYTES; key = (key + 1) % KEYS) {
        session.read(key, null);
        session.rmw(KEYS + key, 1, null);
      }
      assertThat(store.memoryUse().logBytes()).isEqualTo(LOG_BYTES / 2);
    }
  }

  @Test
  void lookUpsReadLessFromDisk() {
    long without;
    try (FasterStore store = FasterStore.open(config(0).deleteOnClose(true).build())) {
      add(store, 0, KEYS);
      without = check(store, KEYS);
      assertThat(store.memoryUse().logBytes()).isEqualTo(LOG_BYTES);
      assertThat(store.indexStatistics().saturatedChains()).isPositive();
    }
    try (FasterStore store = FasterStore.open(config(1).build())) {
      int keys = addUntilLogHas(store, 0, LOG_BYTES / 2);
      add(store, keys, KEYS);
      assertThat(check(store, KEYS)).isLessThan(without);
    }
  }

  /** Without the log's memory there is no room for the index that the log has given memory. */
  private StoreConfig.Builder full(int halvings) {
    return config(halvings).scratchBytes(MEMORY_BYTES - LOG_BYTES - INDEX_BYTES);
  }

  /** Has the index use more than its own memory; returns how many keys there are. */
  private int lend(FasterStore store, int from) {
    int keys = addUntilLogHas(store, from, LOG_BYTES / 2) + MORE;
    add(store, keys - MORE, keys);
    return keys;
  }

  @Test
  void aStoreIsRecoveredWithTheMemoryThatTheIndexHad() {
    int keys;
    long index;
    try (FasterStore store = FasterStore.open(full(1).build())) {
      keys = lend(store, 0);
      index = store.indexStatistics().bytes();
      store.checkpoint();
    }
    try (FasterStore store = FasterStore.recover(full(1).build())) {
      assertThat(store.config().logMemoryBytes()).isEqualTo(LOG_BYTES / 2);
      assertThat(store.config().logHalvings()).isZero();
      // A sixty-fourth of all memory is for others.
      assertThat(store.indexStatistics().bytes()).isGreaterThanOrEqualTo(index - MEMORY_BYTES / 64);
      assertThat(store.memoryBytes()).isLessThanOrEqualTo(MEMORY_BYTES);
      check(store, keys);
      StoreInvariants.check(store);
      add(store, keys, keys + MORE);
      assertThat(store.indexStatistics().saturatedChains()).isZero();
      check(store, keys + MORE);
    }
  }

  @Test
  void aStoreIsRecoveredFromItsLogAlone() {
    int keys;
    try (FasterStore store = FasterStore.open(full(2).build())) {
      keys = lend(store, 0);
      store.checkpoint();
    }
    RecoveryRequest request = RecoveryRequest.newest().withoutIndex();
    try (FasterStore store = FasterStore.recover(full(2).build(), request)) {
      check(store, keys);
      StoreInvariants.check(store);
    }
  }

  /** Its image is from before, and what came later is put into it. */
  @Test
  void aStoreIsRecoveredFromAnImageThatIsOlderThanItsLoan() {
    int keys;
    try (FasterStore store = FasterStore.open(full(2).build())) {
      add(store, 0, FEW / 2);
      store.checkpoint();
      keys = lend(store, FEW / 2);
      store.checkpoint(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
    }
    try (FasterStore store = FasterStore.recover(full(2).build())) {
      assertThat(store.memoryBytes()).isLessThanOrEqualTo(MEMORY_BYTES);
      check(store, keys);
      StoreInvariants.check(store);
    }
  }

  @Test
  void anExportIsRecoveredWithTheSameSettings(@TempDir Path other) throws Exception {
    int keys;
    try (FasterStore store = FasterStore.open(full(2).build())) {
      keys = lend(store, 0);
      copyTo(other.resolve("store"), store);
    }
    StoreConfig config = full(2).build();
    try (FasterStore store = FasterStore.recover(at(other.resolve("store"), config))) {
      check(store, keys);
      StoreInvariants.check(store);
    }
  }

  private static StoreConfig at(Path directory, StoreConfig like) {
    return StoreConfig.builder(directory)
        .memoryBytes(like.memoryBytes())
        .logMemoryBytes(like.logMemoryBytes())
        .indexBytes(like.indexBytes())
        .scratchBytes(like.scratchBytes())
        .pageBytes(like.pageBytes())
        .segmentBytes(like.segmentBytes())
        .logHalvings(like.logHalvings())
        .recordKind(like.recordKind())
        .build();
  }

  private static void copyTo(Path directory, FasterStore store) throws Exception {
    try (StoreExport export = store.export();
        Arena arena = Arena.ofConfined()) {
      export.awaitWritten();
      List<LogPiece> pieces = export.pieces(0);
      StoreImport head = StoreImport.of(export.head(), "head");
      try (StoreImport.Target target = head.into(directory)) {
        for (LogPiece piece : pieces) {
          MemorySegment bytes = arena.allocate(piece.until() - piece.from(), 4096);
          export.read(piece, bytes);
          target.write(piece, bytes, "piece");
        }
        target.finish(pieces);
      }
    }
  }

  @Test
  void theIndexIsResizedAfterwardsAsAnyOther() {
    try (FasterStore store = FasterStore.open(config(2).memoryBytes(2 * MEMORY_BYTES).build())) {
      int keys = addUntilLogHas(store, 0, LOG_BYTES / 2);
      store.shrinkIndex();
      check(store, keys);
      store.growIndex();
      add(store, keys, KEYS);
      check(store, KEYS);
      StoreInvariants.check(store);
      assertThat(store.memoryBytes()).isLessThanOrEqualTo(store.config().memoryBytes());
      assertThat(store.memoryUse().usedBytes()).isEqualTo(store.memoryBytes());
    }
  }

  /** Sessions, compaction and checkpoints beside the log's halvings. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void sumsAreRightBesideLoans(long seed) {
    StoreConfig config = config(2).mutableFraction(seed % 2 == 0 ? 0.9 : 0.5).build();
    AtomicLongArray sums = new AtomicLongArray(2 * KEYS);
    AtomicBoolean isOver = new AtomicBoolean();
    try (FasterStore store = FasterStore.open(config);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<CompletableFuture<Void>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        SplittableRandom random = new SplittableRandom(seed + i);
        running.add(CompletableFuture.runAsync(() -> update(store, sums, random, isOver), threads));
      }
      while (store.memoryUse().logBytes() > LOG_BYTES / 2
          && running.stream().noneMatch(CompletableFuture::isDone)) {
        store.removeCheckpoint(store.checkpoint());
        store.compact();
        assertThat(store.memoryBytes()).isLessThanOrEqualTo(MEMORY_BYTES);
      }
      isOver.set(true);
      running.forEach(CompletableFuture::join);
      try (LongSession<Void> session = session(store)) {
        for (int key = 0; key < sums.length(); key++) {
          boolean isFound = session.read(key, null) == Status.FOUND;
          assertThat(isFound ? session.value() : 0).as("key %d", key).isEqualTo(sums.get(key));
        }
      }
      StoreInvariants.check(store);
    }
  }

  private static void update(
      FasterStore store, AtomicLongArray sums, SplittableRandom random, AtomicBoolean isOver) {
    try (LongSession<Void> session = session(store)) {
      for (int i = 1; !isOver.get(); i++) {
        int most = Math.min(sums.length(), 1000 + i);
        int key = random.nextInt(most);
        long more = random.nextInt(100);
        session.rmw(key, more, null);
        sums.addAndGet(key, more);
      }
    }
  }

  @Test
  void settingsThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> config(3).build())
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("logHalvings=3, allowed=0 to 2");
    assertThatThrownBy(() -> StoreConfig.inMemory().logHalvings(1).build())
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("0 where maxIndexBytes is set or the store is in memory");
  }
}
