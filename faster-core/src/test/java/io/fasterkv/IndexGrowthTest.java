package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.index.HashIndex;
import io.fasterkv.operation.resize.IndexResizer;
import io.fasterkv.spi.StoreIntegration;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests an index that starts small and allocates the rest of its memory on demand. */
@Tag("long")
@Tag("seeds")
class IndexGrowthTest {
  private static final int PAGE_BYTES = 4096;
  private static final int INDEX_BYTES = 16 << 20;
  private static final long MEMORY_BYTES = 96 << 20;
  private static final int STEPS = 8_000;
  private static final long PAUSE_NANOS = 100_000;

  /** Longer than the index thread needs to wake up. */
  private static final long LOOKS_MILLIS = 50;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(12);
  }

  @Test
  void growsWhenChainsOutgrowTheirBuckets() {
    try (FasterStore store = FasterStore.open(longs().logMemoryBytes(8 << 20).build())) {
      assertThat(indexBytes(store)).isEqualTo(INDEX_BYTES / 16);
      try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
        int keys = 0;
        for (; keys < 10 || indexBytes(store) < INDEX_BYTES / 2; keys++) {
          session.rmw(keys, keys, null);
          if (keys % 4096 == 0) {
            // Otherwise all keys are written before the index thread has checked once.
            LockSupport.parkNanos(PAUSE_NANOS);
          }
        }
        assertThat(indexBytes(store)).isEqualTo(INDEX_BYTES / 16 * 15);
        assertThat(store.statistics().memoryBytes())
            .isLessThanOrEqualTo(store.config().memoryBytes());
        for (long key = 0; key < keys; key++) {
          assertThat(session.read(key, null)).as("key %d", key).isEqualTo(Status.FOUND);
          assertThat(session.value()).isEqualTo(key);
        }
      }
      StoreInvariants.check(store);
    }
  }

  /**
   * Overwritten records do not make the index grow, even if they fill the log; new keys do,
   * wherever their records are.
   */
  @Test
  void growsForNewKeysAndNotForOverwrites() throws InterruptedException {
    StoreConfig config = longs().logMemoryBytes(1 << 20).build();
    int few = 1000;
    try (FasterStore store = FasterStore.open(config);
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int key = 0; store.log().tailAddress() < 4 * config.logMemoryBytes(); key++) {
        session.delete(key % few, null);
        session.upsert(key % few, key % few, null);
        if (key % 10_000 == 0) {
          store.log().cut().close();
        }
      }
      Thread.sleep(LOOKS_MILLIS);
      assertThat(indexBytes(store)).isEqualTo(INDEX_BYTES / 16);

      int keys = few;
      for (; indexBytes(store) == INDEX_BYTES / 16; keys++) {
        session.upsert(keys, keys, null);
        if (keys % 1024 == 0) {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
      assertThat(store.log().tailAddress()).isGreaterThan(config.logMemoryBytes());
      assertThat(store.statistics().memoryBytes())
          .isLessThanOrEqualTo(store.config().memoryBytes());
      for (long key = 0; key < keys; key++) {
        assertThat(session.read(key, null)).as("key %d", key).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(key);
      }
      assertThat(store.statistics().index().entries())
          .as("one for each key, and a few for tags across borders")
          .isBetween(keys * 9L / 10, keys * 11L / 10);
      assertThat(store.statistics().index().saturatedChains()).isZero();
      StoreInvariants.check(store);
    }
  }

  @Test
  void aStoreThatIsRecoveredFromAnImageHasThatAndLetsItGrow() throws InterruptedException {
    StoreConfig config = longs().logMemoryBytes(8 << 20).deleteOnClose(false).build();
    try (FasterStore store = FasterStore.open(config)) {
      add(store, 0, 10);
      store.checkpoints().take(CheckpointRequest.full(CheckpointKind.FOLD_OVER));
    }
    try (FasterStore store = FasterStore.recover(config)) {
      assertThat(indexBytes(store)).isEqualTo(INDEX_BYTES / 16);
      add(store, 10, 11);
      store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
      add(store, 11, 60_000);
      while (indexBytes(store) == INDEX_BYTES / 16) {
        Thread.sleep(1);
      }
      check(store, 60_000);
      store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
    }
    try (FasterStore store = FasterStore.recover(config)) {
      check(store, 60_000);
    }
  }

  /**
   * Because of rounding in a shrinkage, the overflow buckets of all parts may exceed those that
   * exist.
   */
  @Test
  void growsByLessWhereThePartsWouldNotHaveTheirOverflowBuckets() {
    StoreConfig config = longs().indexBytes(INDEX_BYTES + 127 * 64).logMemoryBytes(8 << 20).build();
    try (FasterStore store = FasterStore.open(config)) {
      store.index().shrink();
      IndexResizer resizer = new IndexResizer(Insides.engine(store));
      long overflow = store.statistics().index().overflowBuckets();
      long main = store.statistics().index().mainBuckets();
      resizer.refine(config::indexBytes);
      long parts = store.statistics().index().mainBuckets() / main;
      assertThat(parts).isEqualTo(30);
      assertThat(store.statistics().index().overflowBuckets())
          .isGreaterThanOrEqualTo(parts * overflow);
      assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(config.memoryBytes());
    }
  }

  /** An index that others give memory doubles its main buckets, and has no use for the rest. */
  @Test
  void growsWithMemoryThatItAccepts() {
    StoreConfig config = longs().logMemoryBytes(8 << 20).maxMemoryBytes(4 * MEMORY_BYTES).build();
    try (FasterStore store = FasterStore.open(config)) {
      StoreIntegration memory = store.integration();
      long ofOthers = 2 * MEMORY_BYTES;
      int keys = 0;
      long most = 4 * INDEX_BYTES / 64;
      while (store.statistics().index().mainBuckets() < most) {
        if (Insides.engine(store).index().isScarce()) {
          LockSupport.parkNanos(10 * PAUSE_NANOS);
        }
        add(store, keys, keys + 1000);
        keys += 1000;
        long lack = memory.memoryUses().indexLackBytes();
        long accepted = lack == 0 ? 0 : memory.acceptIndexMemory(Math.min(ofOthers, 1 + lack / 2));
        ofOthers -= accepted;
        assertThat(store.statistics().memory().budgetBytes())
            .isEqualTo(MEMORY_BYTES + memory.memoryUses().acceptedBytes());
        assertThat(store.statistics().memoryBytes())
            .isLessThanOrEqualTo(store.statistics().memory().budgetBytes());
      }
      assertThat(store.statistics().index().saturatedChains()).isZero();
      check(store, keys);
      StoreInvariants.check(store);
      while (memory.memoryUses().spareIndexBytes() == 0) {
        Thread.onSpinWait();
      }
      long half = memory.memoryUses().spareIndexBytes() / 2;
      long budget = store.statistics().memory().budgetBytes();
      long moved = memory.moveIndexMemoryToLog(half);
      assertThat(moved).isEqualTo(half / PAGE_BYTES * PAGE_BYTES);
      assertThat(store.statistics().memory().logBytes()).isEqualTo((8 << 20) + moved);
      assertThat(store.statistics().memory().budgetBytes()).isEqualTo(budget);
      long spare = memory.memoryUses().spareIndexBytes();
      CompletableFuture<Long> released = new CompletableFuture<>();
      memory.releaseMemory(spare, Duration.ofMinutes(1), released::complete);
      assertThat(released.join()).isEqualTo(spare);
      assertThat(store.statistics().memory().logBytes()).isEqualTo((8 << 20) + moved);
      check(store, keys);
    }
  }

  /** It is tried again. */
  @Test
  void growsWhenThereIsAPlaceInTheEpochTable() throws InterruptedException {
    try (FasterStore store = FasterStore.open(longs().logMemoryBytes(8 << 20).build());
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      List<EpochUser> users = allPlaces(store);
      int keys = 0;
      // The thread hears of it when the next overflow bucket is taken.
      for (int more = 0; more < 1000; more += Insides.engine(store).index().isOutgrown() ? 1 : 0) {
        session.rmw(keys, keys, null);
        keys++;
      }
      Thread.sleep(LOOKS_MILLIS);
      assertThat(indexBytes(store)).isEqualTo(INDEX_BYTES / 16);
      users.removeLast().close();
      for (; indexBytes(store) == INDEX_BYTES / 16; keys++) {
        session.rmw(keys, keys, null);
      }
      users.forEach(EpochUser::close);
      check(store, keys);
    }
  }

  /** An index that is nearly exhausted does not wait for the place any more. */
  @Test
  void takesOverflowBucketsIfItCannotGrow() {
    StoreConfig config = longs().logMemoryBytes(8 << 20).maxMemoryBytes(2 * MEMORY_BYTES).build();
    try (FasterStore store = FasterStore.open(config);
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      List<EpochUser> users = allPlaces(store);
      long main = store.statistics().index().mainBuckets();
      int keys = 0;
      for (; indexBytes(store) == INDEX_BYTES / 16; keys++) {
        session.rmw(keys, keys, null);
        if (Insides.engine(store).index().isScarce()) {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
      assertThat(store.statistics().index().mainBuckets()).isEqualTo(main);
      users.forEach(EpochUser::close);
      for (; store.statistics().index().mainBuckets() == main; keys++) {
        session.rmw(keys, keys, null);
      }
      check(store, keys);
    }
  }

  private static List<EpochUser> allPlaces(FasterStore store) {
    List<EpochUser> users = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                users.add(Insides.engine(store).epochs().register());
              }
            })
        .isInstanceOf(OutOfBudget.class);
    return users;
  }

  /** The log lends to an index that fills up and cannot double, which uses it piece by piece. */
  @Test
  void theLogLendsToAnIndexThatGrows() {
    StoreConfig config = longs().logMemoryBytes(16 << 20).logHalvings(1).build();
    try (FasterStore store = FasterStore.open(config)) {
      int keys = 0;
      while (indexBytes(store) <= INDEX_BYTES) {
        add(store, keys, keys + 1000);
        keys += 1000;
      }
      long lent = (16 << 20) - store.statistics().memory().logBytes();
      assertThat(lent).isBetween(4L << 20, 8L << 20);
      assertThat(indexBytes(store)).isLessThan(INDEX_BYTES + lent);
      assertThat(store.statistics().memory().budgetBytes()).isEqualTo(MEMORY_BYTES);
      assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(MEMORY_BYTES);
      check(store, keys);
      StoreInvariants.check(store);
    }
  }

  /** What is not enough for twice the main buckets becomes overflow buckets. */
  @Test
  void takesOverflowBucketsIfItCannotDouble() {
    StoreConfig config = longs().logMemoryBytes(8 << 20).maxMemoryBytes(2 * MEMORY_BYTES).build();
    try (FasterStore store = FasterStore.open(config)) {
      StoreIntegration memory = store.integration();
      int keys = 0;
      while (memory.memoryUses().indexLackBytes() == 0) {
        add(store, keys, keys + 1000);
        keys += 1000;
      }
      long main = store.statistics().index().mainBuckets();
      long before = indexBytes(store);
      long given = memory.acceptIndexMemory(1 << 20);
      assertThat(given).isEqualTo(1 << 20);
      while (indexBytes(store) < before + given) {
        add(store, keys, keys + 100);
        keys += 100;
      }
      assertThat(indexBytes(store)).as("and all that was spare").isLessThan(INDEX_BYTES * 5 / 4);
      assertThat(store.statistics().index().mainBuckets()).isEqualTo(main);
      check(store, keys);
      StoreInvariants.check(store);
    }
  }

  /** Long after it was full, operations that share its entries show that it lacks memory. */
  @Test
  void growsWhenOperationsShareItsEntries() {
    StoreConfig config =
        longs()
            .indexBytes(64 << 10)
            .logMemoryBytes(1 << 20)
            .maxMemoryBytes(2 * MEMORY_BYTES)
            .build();
    int keys = 60_000;
    try (FasterStore store = FasterStore.open(config)) {
      StoreIntegration memory = store.integration();
      HashIndex index = Insides.engine(store).index();
      add(store, 0, keys);
      assertThat(index.isShared()).isTrue();
      while (memory.memoryUses().indexLackBytes() > 0) {
        Thread.onSpinWait();
      }
      check(store, keys);
      long lack = memory.memoryUses().indexLackBytes();
      assertThat(lack).isEqualTo(128 << 10);
      assertThat(memory.acceptIndexMemory(lack)).isEqualTo(lack);
      while (index.isShared()) {
        Thread.onSpinWait();
      }
      assertThat(memory.memoryUses().indexLackBytes()).isZero();
      check(store, keys);
      add(store, keys, 2 * keys);
      check(store, 2 * keys);
      StoreInvariants.check(store);
    }
  }

  private static void add(FasterStore store, int from, int until) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int key = from; key < until; key++) {
        session.rmw(key, key, null);
      }
    }
  }

  private static void check(FasterStore store, int keys) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (int key = 0; key < keys; key++) {
        assertThat(session.read(key, null)).as("key %d", key).isEqualTo(Status.FOUND);
        assertThat(session.value()).isEqualTo(key);
      }
    }
  }

  @Test
  void isNotForAnIndexThatMayGrowToMore() {
    assertThatThrownBy(() -> longs().logMemoryBytes(8 << 20).maxIndexBytes(2 * INDEX_BYTES).build())
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining(
            "growingIndex=true, allowed=false where maxIndexBytes=33554432 is set");
  }

  /** Operations, checkpoints, compaction and recovery at any moment of a growth. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(MEMORY_BYTES)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes((long) PAGE_BYTES << random.nextInt(4, 6))
            .indexBytes(INDEX_BYTES)
            .growingIndex(true)
            .segmentBytes(4 * PAGE_BYTES)
            .backgroundCompaction(random.nextBoolean())
            .build();
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    Map<Integer, byte[]> model = new HashMap<>();
    CompletableFuture<Void> growth = CompletableFuture.completedFuture(null);
    FasterStore store = FasterStore.open(config);
    try {
      ModelDriver driver = new ModelDriver(store, mode, random, model, seed);
      int growsAt = random.nextInt(STEPS);
      for (int step = 0; step < STEPS; step++) {
        int dice = random.nextInt(10_000);
        if (step == growsAt) {
          // The model has too few keys to reach that state without help.
          IndexResizer resizer = new IndexResizer(Insides.engine(store));
          growth = CompletableFuture.runAsync(() -> resizer.refine(config::indexBytes));
        }
        if (dice < 10) {
          driver.checkCut();
        } else if (dice < 20) {
          store.log().compact();
        } else if (dice < 40) {
          store.checkpoints().take(withLog(random));
        } else if (dice < 44) {
          store.checkpoints().take(withLog(random));
          driver.close();
          growth.join();
          store.close();
          store = FasterStore.recover(config);
          // The checkpoint may be from before the growth.
          growsAt = Math.max(growsAt, step + 1 + random.nextInt(STEPS / 10));
          driver = new ModelDriver(store, mode, random, model, seed);
        } else {
          driver.operation();
        }
      }
      growth.join();
      new IndexResizer(Insides.engine(store)).refine(config::indexBytes);
      driver.checkAll();
      assertThat(indexBytes(store)).as("seed=%d", seed).isGreaterThan(config.indexBytes() / 2);
      assertThat(store.statistics().memoryBytes()).isLessThanOrEqualTo(config.memoryBytes());
      driver.close();
    } finally {
      growth.exceptionally(failure -> null).join();
      store.close();
    }
  }

  private static CheckpointRequest withLog(SplittableRandom random) {
    List<CheckpointRequest> all = CheckpointRequests.withLog();
    return all.get(random.nextInt(all.size()));
  }

  private static long indexBytes(FasterStore store) {
    return store.statistics().index().bytes();
  }

  private StoreConfigBuilder longs() {
    return StoreConfig.builder(directory)
        .memoryBytes(MEMORY_BYTES)
        .pageBytes(PAGE_BYTES)
        .indexBytes(INDEX_BYTES)
        .growingIndex(true)
        .recordKind(RecordKind.LONGS)
        .deleteOnClose(true);
  }
}
