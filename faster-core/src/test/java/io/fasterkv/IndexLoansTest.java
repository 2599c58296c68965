package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.index.HashIndex;
import io.fasterkv.memory.ResidentPages;
import io.fasterkv.spi.LogPiece;
import io.fasterkv.spi.StoreExport;
import io.fasterkv.spi.StoreImport;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that an index that is nearly full gets memory of the log while the store is used. */
@Tag("seeds")
class IndexLoansTest {
  private static final long MEMORY_BYTES = 2 << 20;
  private static final long LOG_BYTES = 1 << 20;
  private static final long INDEX_BYTES = 512 << 10;

  /** More than the number of entries of an index with all the memory that it can get. */
  private static final int KEYS = 200_000;

  /** Nearly the number of entries of an index without the log's memory. */
  private static final int FEW = 30_000;

  private static final int MORE = 15_000;
  private static final int THREADS = 3;
  private static final long PAUSE_NANOS = 100_000;
  private static final long LONG_PAUSE_NANOS = 5_000_000;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  private StoreConfigBuilder config(int halvings) {
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
    return store.newSession().longs(LongFunctions.sum());
  }

  private static void add(FasterStore store, int from, int until) {
    try (LongSession<Void> session = session(store)) {
      for (int key = from; key < until; key++) {
        session.rmw(key, key, null);
      }
    }
  }

  /** Writes no faster than the log can release its memory; returns the number of keys. */
  private static int addUntilLogHas(FasterStore store, int from, long bytes) {
    int keys = from;
    HashIndex index = Insides.engine(store).index();
    try (LongSession<Void> session = session(store)) {
      // The log has released its memory before the index has it.
      for (; logBytes(store) > bytes || index.isScarce(); keys++) {
        session.rmw(keys, keys, null);
        if (index.isNearlyExhausted()) {
          // However long the log takes, few keys are added meanwhile, and they find room.
          LockSupport.parkNanos(LONG_PAUSE_NANOS);
        } else if (index.isScarce()) {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    }
    return keys;
  }

  private static long logBytes(FasterStore store) {
    return store.statistics().memory().logBytes();
  }

  /** The disk reads that looking up all keys takes. */
  private static long check(FasterStore store, int keys) {
    long before = store.statistics().index().recordsFromDisk();
    try (LongSession<Void> session = session(store)) {
      for (long key = 0; key < keys; key++) {
        assertThat(session.read(key, null)).as("key %d", key).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(key);
      }
    }
    return store.statistics().index().recordsFromDisk() - before;
  }

  @Tag("slow")
  @Test
  void theLogGivesHalfOfItsMemoryWhenTheIndexIsNearlyFull() throws IOException {
    Lines lines = new Lines();
    try (FasterStore store = FasterStore.open(config(2).logger(lines).build())) {
      long index = store.statistics().index().bytes();
      long used = store.statistics().memoryBytes();
      add(store, 0, FEW);
      assertThat(store.statistics().memory().logBytes()).as("full size").isEqualTo(LOG_BYTES);
      int keys = addUntilLogHas(store, FEW, LOG_BYTES / 2);
      assertThat(store.statistics().index().saturatedChains()).isZero();
      assertThat(store.statistics().memory().logBytes()).isEqualTo(LOG_BYTES / 2);
      assertThat(store.statistics().index().bytes()).isEqualTo(index + LOG_BYTES / 2);
      assertThat(store.statistics().memory().indexBytes()).isEqualTo(index + LOG_BYTES / 2);
      assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(used);
      assertThat(ResidentPages.bytes(Insides.engine(store).log().memory()))
          .isLessThanOrEqualTo(LOG_BYTES / 2);
      check(store, keys);
      keys = addUntilLogHas(store, keys, LOG_BYTES / 4);
      assertThat(store.statistics().memory().logBytes()).isEqualTo(LOG_BYTES / 4);
      assertThat(store.statistics().index().saturatedChains()).isZero();
      assertThat(ResidentPages.bytes(Insides.engine(store).log().memory()))
          .isLessThanOrEqualTo(LOG_BYTES / 4);
      add(store, keys, KEYS);
      check(store, KEYS);
      StoreInvariants.check(store);
      assertThat(store.statistics().memory().logBytes())
          .as("the log lends no more than that")
          .isEqualTo(LOG_BYTES / 4);
      String line = "INFO the index was nearly full and received memory from the log: bytes=";
      assertThat(lines.all()).contains(line + LOG_BYTES / 2, line + LOG_BYTES / 4);
    }
  }

  /** Budgets are seldom a multiple of the page size. */
  @Test
  void anIndexOfAnySizeCanGetMemory() {
    for (int buckets = 1; buckets < 64; buckets += 20) {
      StoreConfigBuilder config = config(1).indexBytes(INDEX_BYTES - buckets * 64L);
      try (FasterStore store = FasterStore.open(config.deleteOnClose(true).build())) {
        assertThat(Insides.engine(store).index().takeableBytes()).isPositive();
        assertThat(Insides.engine(store).log().quota().canHalve()).isTrue();
      }
    }
  }

  /**
   * A lookup of a record in memory takes no room in the index, but would read from disk if the log
   * were smaller.
   */
  @Tag("slow")
  @Test
  void theLogKeepsItsMemoryWhileItAnswersLookups() {
    try (FasterStore store = FasterStore.open(config(1).build());
        LongSession<Void> session = session(store)) {
      for (int key = 0; key < KEYS; key++) {
        session.rmw(key, key, null);
        session.read(key - key % 100, null);
      }
      assertThat(Insides.engine(store).index().newestTable().isOverflowScarce()).isTrue();
      assertThat(store.statistics().memory().logBytes()).isEqualTo(LOG_BYTES);
      for (int key = 0;
          store.statistics().memory().logBytes() == LOG_BYTES;
          key = (key + 1) % KEYS) {
        session.read(key, null);
        session.rmw(KEYS + key, 1, null);
      }
      assertThat(store.statistics().memory().logBytes()).isEqualTo(LOG_BYTES / 2);
    }
  }

  @Tag("slow")
  @Test
  void lookUpsReadLessFromDisk() {
    long without;
    try (FasterStore store = FasterStore.open(config(0).deleteOnClose(true).build())) {
      add(store, 0, KEYS);
      without = check(store, KEYS);
      assertThat(store.statistics().memory().logBytes()).isEqualTo(LOG_BYTES);
      assertThat(store.statistics().index().saturatedChains()).isPositive();
    }
    try (FasterStore store = FasterStore.open(config(1).build())) {
      int keys = addUntilLogHas(store, 0, LOG_BYTES / 2);
      add(store, keys, KEYS);
      assertThat(check(store, KEYS)).isLessThan(without);
    }
  }

  /** Without the log's memory there is no room for the index, which has borrowed from it. */
  private StoreConfigBuilder full(int halvings) {
    return config(halvings).scratchBytes(MEMORY_BYTES - LOG_BYTES - INDEX_BYTES);
  }

  /** Makes the index use more than its own memory; returns the number of keys. */
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
      index = store.statistics().index().bytes();
      store.checkpoints().take();
    }
    try (FasterStore store = FasterStore.recover(full(1).build())) {
      assertThat(store.config().logMemoryBytes()).isEqualTo(LOG_BYTES / 2);
      assertThat(store.config().logHalvings()).isZero();
      // One sixty-fourth of the memory has other uses.
      assertThat(store.statistics().index().bytes())
          .isGreaterThanOrEqualTo(index - MEMORY_BYTES / 64);
      assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(MEMORY_BYTES);
      check(store, keys);
      StoreInvariants.check(store);
      add(store, keys, keys + MORE);
      assertThat(store.statistics().index().saturatedChains()).isZero();
      check(store, keys + MORE);
    }
  }

  @Tag("slow")
  @Test
  void aStoreIsRecoveredFromItsLogAlone() {
    int keys;
    try (FasterStore store = FasterStore.open(full(2).build())) {
      keys = lend(store, 0);
      store.checkpoints().take();
    }
    RecoveryRequest request = RecoveryRequest.newest().withoutIndex();
    try (FasterStore store = FasterStore.recover(full(2).build(), request)) {
      check(store, keys);
      StoreInvariants.check(store);
    }
  }

  /** Its image is older, so later records are replayed. */
  @Tag("slow")
  @Test
  void aStoreIsRecoveredFromAnImageThatIsOlderThanItsLoan() {
    int keys;
    try (FasterStore store = FasterStore.open(full(2).build())) {
      add(store, 0, FEW / 2);
      store.checkpoints().take();
      keys = lend(store, FEW / 2);
      store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
    }
    try (FasterStore store = FasterStore.recover(full(2).build())) {
      assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(MEMORY_BYTES);
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
    try (StoreExport export = store.integration().export();
        Arena arena = Arena.ofConfined()) {
      export.awaitWritten();
      List<LogPiece> pieces = export.pieces(0);
      StoreImport head = FasterStore.readExport(export.head(), "head");
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

  @Tag("slow")
  @Test
  void theIndexIsResizedAfterwardsAsAnyOther() {
    try (FasterStore store = FasterStore.open(config(2).memoryBytes(2 * MEMORY_BYTES).build())) {
      int keys = addUntilLogHas(store, 0, LOG_BYTES / 2);
      store.index().shrink();
      check(store, keys);
      store.index().grow();
      add(store, keys, KEYS);
      check(store, KEYS);
      StoreInvariants.check(store);
      assertThat(store.statistics().memoryBytes())
          .isLessThanOrEqualTo(store.config().memoryBytes());
      assertThat(store.statistics().memory().usedBytes())
          .isEqualTo(store.statistics().memoryBytes());
    }
  }

  /** Sessions, compaction and checkpoints while the log's memory is halved. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  @Tag("long")
  void sumsAreRightDuringLoans(long seed) {
    StoreConfig config = config(2).mutableFraction(seed % 2 == 0 ? 0.9 : 0.5).build();
    AtomicLongArray sums = new AtomicLongArray(2 * KEYS);
    AtomicBoolean isOver = new AtomicBoolean();
    try (FasterStore store = FasterStore.open(config);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<CompletableFuture<Void>> running = new ArrayList<>();
      AtomicInteger keys = new AtomicInteger(1);
      for (int i = 0; i < THREADS; i++) {
        SplittableRandom random = new SplittableRandom(seed + i);
        running.add(
            CompletableFuture.runAsync(() -> update(store, sums, keys, random, isOver), threads));
      }
      while (store.statistics().memory().logBytes() > LOG_BYTES / 2
          && running.stream().noneMatch(CompletableFuture::isDone)) {
        store.checkpoints().remove(store.checkpoints().take());
        store.log().compact();
        assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(MEMORY_BYTES);
      }
      isOver.set(true);
      running.forEach(CompletableFuture::join);
      try (LongSession<Void> session = session(store)) {
        for (int key = 0; key < Math.min(sums.length(), keys.get() + FEW); key++) {
          boolean isFound = session.read(key, null) == Status.FOUND;
          assertThat(isFound ? session.value() : 0).as("key %d", key).isEqualTo(sums.get(key));
        }
      }
      StoreInvariants.check(store);
    }
  }

  /**
   * Every fourth update adds a key, so that the index fills up before the log is long; when it is
   * nearly full, updates are no faster than the log can release its memory.
   */
  private static void update(
      FasterStore store,
      AtomicLongArray sums,
      AtomicInteger keys,
      SplittableRandom random,
      AtomicBoolean isOver) {
    try (LongSession<Void> session = session(store)) {
      while (!isOver.get()) {
        boolean isNew = random.nextInt(4) == 0 && keys.get() < sums.length() - THREADS;
        int key = isNew ? keys.getAndIncrement() : random.nextInt(keys.get());
        long more = random.nextInt(100);
        session.rmw(key, more, null);
        sums.addAndGet(key, more);
        if (Insides.engine(store).index().newestTable().isOverflowScarce()) {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
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
