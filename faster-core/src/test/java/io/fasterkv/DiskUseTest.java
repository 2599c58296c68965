package io.fasterkv;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.CompactionStats;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.device.MemoryDevice;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How much log a store needs for what is live. */
class DiskUseTest {
  private static final int PAGE_BYTES = 4096;
  private static final long MEMORY = 8 * PAGE_BYTES;
  private static final int RECORD_BYTES = 24;
  private static final int KEYS = 4000;
  private static final int CUT_EVERY = 500;
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  @TempDir Path directory;

  private StoreConfig.Builder config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .logMemoryBytes(MEMORY)
        .pageBytes(PAGE_BYTES)
        .recordKind(RecordKind.LONGS);
  }

  private FasterStore open() {
    return FasterStore.open(config().build(), new MemoryDevice());
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING);
  }

  /** A hot set for ever, folded over all the time: each fold-over makes a new copy of it. */
  @Test
  void endlessOverwritesWithFoldOversStayWithinTwiceTheLiveBytes() {
    long live = (long) KEYS * RECORD_BYTES;
    SplittableRandom random = new SplittableRandom(1);
    long[] sums = new long[KEYS];
    try (FasterStore store = open();
        LongSession<Void> session = session(store)) {
      for (int key = 0; key < KEYS; key++) {
        session.rmw(key, ++sums[key], null);
      }
      for (int i = 0; i < 200 * CUT_EVERY; i++) {
        int key = random.nextInt(KEYS / 4);
        session.rmw(key, 1, null);
        sums[key]++;
        if (i % CUT_EVERY == 0) {
          store.cut().close();
          if (store.logBytes() > live + live / 2) {
            store.compact();
          }
          assertThat(store.logBytes()).as("after " + i).isLessThanOrEqualTo(2 * live);
          assertThat(store.storedBytes()).as("after " + i).isLessThanOrEqualTo(2 * live);
        }
      }
      for (int key = 0; key < KEYS; key++) {
        session.read(key, null);
        assertThat(session.value()).as("key " + key).isEqualTo(sums[key]);
      }
      CompactionStats stats = store.compactionStats();
      assertThat(stats.passes()).isPositive();
      assertThat(stats.movedBytes()).isEqualTo(stats.movedRecords() * RECORD_BYTES);
      assertThat(store.beginAddress()).isGreaterThanOrEqualTo(stats.scannedBytes());
      StoreInvariants.check(store);
    }
  }

  /**
   * A hot set for ever, with checkpoints of which the newest is kept, and a part of the log
   * compacted after each: of what a checkpoint needs, little has been copied when the next is
   * there.
   */
  @Test
  void endlessOverwritesWithCheckpointsStayWithinTwiceTheLiveBytes() {
    int keys = 5 * KEYS;
    long live = (long) keys * RECORD_BYTES;
    SplittableRandom random = new SplittableRandom(3);
    long[] sums = new long[keys];
    CheckpointToken newest = null;
    try (FasterStore store = open();
        LongSession<Void> session = session(store)) {
      for (int key = 0; key < keys; key++) {
        session.rmw(key, ++sums[key], null);
      }
      for (int i = 0; i < 100 * keys / 20; i++) {
        int key = random.nextInt(keys / 4);
        session.rmw(key, 1, null);
        sums[key]++;
        if (i % (keys / 20) == 0) {
          CheckpointToken older = newest;
          newest =
              store.checkpoint(
                  i % (keys / 2) == 0
                      ? CheckpointRequest.full(CheckpointKind.FOLD_OVER)
                      : CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
          if (older != null) {
            store.removeCheckpoint(older);
          }
          if (store.logBytes() > live + live / 2) {
            store.compact(store.beginAddress() + store.logBytes() / 5);
          }
        }
        if (i % 100 == 0) {
          assertThat(store.storedBytes()).as("after " + i).isLessThanOrEqualTo(2 * live);
        }
      }
      assertThat(store.compactionStats().passes()).isGreaterThan(20);
      for (int key = 0; key < keys; key++) {
        session.read(key, null);
        assertThat(session.value()).as("key " + key).isEqualTo(sums[key]);
      }
      StoreInvariants.check(store);
    }
  }

  /** Overwrites as fast as they go, while compaction runs beside them with many or few buckets. */
  @ParameterizedTest
  @ValueSource(ints = {256 << 10, 256})
  void writersDoNotOutrunCompaction(int indexBytes) {
    long live = (long) KEYS * RECORD_BYTES;
    StoreConfig config = config().indexBytes(indexBytes).backgroundCompaction(true).build();
    SplittableRandom random = new SplittableRandom(2);
    long[] newest = new long[KEYS];
    long most = 0;
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        LongSession<Void> session = session(store)) {
      for (int key = 0; key < KEYS; key++) {
        session.upsert(key, 0, null);
      }
      for (int i = 1; i <= 25 * KEYS; i++) {
        int key = random.nextInt(KEYS);
        session.upsert(key, i, null);
        newest[key] = i;
        most = Math.max(most, store.logBytes());
      }
      assertThat(most).isLessThanOrEqualTo(2 * live + 6 * MEMORY);
      for (int key = 0; key < KEYS; key++) {
        session.read(key, null);
        assertThat(session.value()).as("key " + key).isEqualTo(newest[key]);
      }
    }
  }

  /**
   * Keys that are written in turn: what a pass comes to is dead, unless it comes before it must.
   * Nothing says when compaction has a processor.
   */
  @Test
  void whatIsWrittenInTurnIsNotCopied() {
    StoreConfig config = config().backgroundCompaction(true).build();
    int rounds = 50;
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        LongSession<Void> session = session(store)) {
      for (int i = 0; i < rounds * KEYS; i++) {
        session.upsert(i % KEYS, i, null);
      }
      CompactionStats stats = store.compactionStats();
      assertThat(stats.scannedBytes()).isGreaterThan((rounds - 3L) * KEYS * RECORD_BYTES);
      // A sample of so small a log errs now and then.
      assertThat(stats.movedBytes()).isLessThan((long) rounds * KEYS * RECORD_BYTES / 20);
    }
  }

  /**
   * Half of a recovered log counts as live until somebody looks. Nothing keeps its begin, and it is
   * written to all the time.
   */
  @Test
  void aRecoveredLogThatIsMostlyDeadBecomesShort() {
    long live = (long) KEYS * RECORD_BYTES;
    MemoryDevice device = new MemoryDevice();
    CheckpointToken token;
    try (FasterStore store = FasterStore.open(config().build(), device);
        LongSession<Void> session = session(store)) {
      for (int i = 0; i < 20 * KEYS; i++) {
        session.upsert(i % KEYS, i, null);
      }
      assertThat(store.logBytes()).isGreaterThan(15 * live);
      token = store.checkpoint();
    }
    StoreConfig config = config().backgroundCompaction(true).build();
    try (FasterStore store = FasterStore.recover(config, token, device);
        LongSession<Void> session = session(store)) {
      store.removeCheckpoint(token);
      for (int i = 0; i < 40 * KEYS; i++) {
        session.upsert(i % KEYS, i, null);
      }
      assertThat(store.logBytes()).isLessThanOrEqualTo(2 * live + 6 * MEMORY);
    }
  }

  /**
   * Memory has most of a log that is mostly dead, and a pass sees only what is on disk: what it
   * finds there says little of the rest, and all of it may be live.
   */
  @Test
  void aStateThatFitsMemoryHardlyOutgrowsIt() {
    int cold = KEYS / 4;
    int hot = KEYS / 4;
    int pages = 64;
    StoreConfig config =
        config().logMemoryBytes(pages * PAGE_BYTES).backgroundCompaction(true).build();
    long live = (cold + hot) * RECORD_BYTES;
    long written = 0;
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        LongSession<Void> session = session(store)) {
      for (int key = 0; key < cold; key++) {
        session.upsert(key, key, null);
      }
      for (int step = 0; step < 40; step++) {
        for (long bytes = 0; bytes < pages / 4 * PAGE_BYTES; bytes += RECORD_BYTES) {
          long key = cold + written++ % hot;
          // So that it is written anew, not in place.
          session.delete(key, null);
          session.upsert(key, key, null);
        }
        await(store, pages * PAGE_BYTES + live);
        assertThat(store.liveBytes()).isBetween(live - live / 4, 2 * live);
      }
      assertThat(store.compactionStats().passes()).isPositive();
      for (int key = 0; key < cold + hot; key++) {
        session.read(key, null);
        assertThat(session.value()).as("key " + key).isEqualTo(key);
      }
    }
  }

  private static void await(FasterStore store, long logBytes) {
    long start = System.nanoTime();
    while (store.logBytes() > logBytes) {
      assertThat(System.nanoTime() - start)
          .as(() -> store.logBytes() + " bytes, " + store.compactionStats())
          .isLessThan(PATIENCE_NANOS);
      Thread.onSpinWait();
    }
  }

  /** All live: a pass copies each record once, and ends. */
  @Test
  void aPassOverAFullyLiveLogEnds() {
    try (FasterStore store = open();
        LongSession<Void> session = session(store)) {
      for (int key = 0; key < KEYS; key++) {
        session.rmw(key, 1, null);
      }
      store.checkpoint();
      long before = store.logBytes();
      store.compact();
      assertThat(store.compactionStats().movedRecords()).isLessThanOrEqualTo(KEYS);
      assertThat(store.compactionStats().movedRecords()).isGreaterThan(KEYS - 2 * PAGE_BYTES / 24);
      assertThat(store.logBytes()).isLessThanOrEqualTo(before + 2 * PAGE_BYTES);
    }
  }

  /** Once the small records beside them said that all was live, and no pass ever began. */
  @Test
  void largeValuesThatWereReplacedAreDroppedThoughSmallOnesLive() {
    int valueBytes = 5 * PAGE_BYTES;
    int rounds = 600;
    long memory = 8 * PAGE_BYTES;
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(2 << 20)
            .scratchBytes(1 << 18)
            .logMemoryBytes(memory)
            .pageBytes(PAGE_BYTES)
            .backgroundCompaction(true)
            .build();
    ByteSpan large = ByteSpan.of(new byte[valueBytes]);
    ByteSpan small = ByteSpan.of(new byte[64]);
    long mostDead = 0;
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession(new BytesFunctions(), SessionMode.BLOCKING)) {
      for (int i = 0; i < rounds; i++) {
        session.upsert(ByteSpan.of("large".getBytes(UTF_8)), large, null);
        for (int key = 0; key < 10; key++) {
          session.upsert(ByteSpan.of((i + " " + key).getBytes(UTF_8)), small, null);
        }
        long live = valueBytes + (i + 1) * 10L * 112;
        mostDead = Math.max(mostDead, store.logBytes() - live);
      }
      assertThat(store.compactionStats().passes()).isPositive();
    }
    assertThat(mostDead).isLessThan((long) rounds * valueBytes / 2);
  }
}
