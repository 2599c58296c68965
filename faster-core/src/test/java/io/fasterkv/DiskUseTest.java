package io.fasterkv;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.statistics.CompactionStats;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how much log a store needs for its live records. */
class DiskUseTest {
  private static final int PAGE_BYTES = 4096;
  private static final long MEMORY = 8 * PAGE_BYTES;
  private static final int RECORD_BYTES = 24;
  private static final int KEYS = 4000;
  private static final int CUT_EVERY = 500;
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  @TempDir Path directory;

  private StoreConfigBuilder config() {
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
    return store.newSession().longs(LongFunctions.sum());
  }

  /**
   * A hot set that is overwritten all the time, with frequent fold-overs that each make a new copy
   * of it.
   */
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
          store.log().cut().close();
          if (store.statistics().logBytes() > live + live / 2) {
            store.log().compact();
          }
          assertThat(store.statistics().logBytes()).as("after " + i).isLessThanOrEqualTo(2 * live);
          assertThat(store.log().storedBytes()).as("after " + i).isLessThanOrEqualTo(2 * live);
        }
      }
      for (int key = 0; key < KEYS; key++) {
        session.read(key, null);
        assertThat(session.value()).as("key " + key).isEqualTo(sums[key]);
      }
      CompactionStats stats = store.statistics().compaction();
      assertThat(stats.passes()).isPositive();
      assertThat(stats.movedBytes()).isEqualTo(stats.movedRecords() * RECORD_BYTES);
      assertThat(store.log().beginAddress()).isGreaterThanOrEqualTo(stats.scannedBytes());
      StoreInvariants.check(store);
    }
  }

  /**
   * A hot set that is overwritten all the time. Of the checkpoints only the newest is kept, and a
   * part of the log is compacted after each: little of what a checkpoint needs has been copied when
   * the next one exists.
   */
  @Tag("slow")
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
              store
                  .checkpoints()
                  .take(
                      i % (keys / 2) == 0
                          ? CheckpointRequest.full(CheckpointKind.FOLD_OVER)
                          : CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
          if (older != null) {
            store.checkpoints().remove(older);
          }
          if (store.statistics().logBytes() > live + live / 2) {
            store.log().compact(store.log().beginAddress() + store.statistics().logBytes() / 5);
          }
        }
        if (i % 100 == 0) {
          assertThat(store.log().storedBytes()).as("after " + i).isLessThanOrEqualTo(2 * live);
        }
      }
      assertThat(store.statistics().compaction().passes()).isGreaterThan(20);
      for (int key = 0; key < keys; key++) {
        session.read(key, null);
        assertThat(session.value()).as("key " + key).isEqualTo(sums[key]);
      }
      StoreInvariants.check(store);
    }
  }

  /** Overwrites at full speed while compaction runs, with many or few buckets. */
  @Tag("slow")
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
        most = Math.max(most, store.statistics().logBytes());
      }
      assertThat(most).isLessThanOrEqualTo(2 * live + 6 * MEMORY);
      for (int key = 0; key < KEYS; key++) {
        session.read(key, null);
        assertThat(session.value()).as("key " + key).isEqualTo(newest[key]);
      }
    }
  }

  /**
   * Keys are written in order, so the records that a run reaches are dead unless the run starts too
   * early. A sample of so small a log is sometimes wrong; then one run copies the live records on
   * disk, less than one round of writes. Runs that always start too early copy half of all writes.
   */
  @Test
  void recordsOverwrittenInOrderAreNotCopied() {
    StoreConfig config = config().backgroundCompaction(true).build();
    int rounds = 50;
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        LongSession<Void> session = session(store)) {
      for (int i = 0; i < rounds * KEYS; i++) {
        session.upsert(i % KEYS, i, null);
      }
      CompactionStats stats = store.statistics().compaction();
      assertThat(stats.scannedBytes()).isGreaterThan((rounds - 3L) * KEYS * RECORD_BYTES);
      assertThat(stats.movedBytes()).isLessThan((long) rounds * KEYS * RECORD_BYTES / 5);
    }
  }

  /**
   * Half of a recovered log counts as live until it is sampled. Nothing pins its begin address, and
   * it is written to all the time.
   */
  @Tag("slow")
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
      assertThat(store.statistics().logBytes()).isGreaterThan(15 * live);
      token = store.checkpoints().take();
    }
    StoreConfig config = config().backgroundCompaction(true).build();
    try (FasterStore store = FasterStore.recover(config, token, device);
        LongSession<Void> session = session(store)) {
      store.checkpoints().remove(token);
      for (int i = 0; i < 40 * KEYS; i++) {
        session.upsert(i % KEYS, i, null);
      }
      assertThat(store.statistics().logBytes()).isLessThanOrEqualTo(2 * live + 6 * MEMORY);
    }
  }

  /**
   * Memory holds most of a log that is mostly dead, and a run reads only what is on disk: the
   * records it finds there say little about the rest, all of which may be live.
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
          // So that the record is appended again, not updated in place.
          session.delete(key, null);
          session.upsert(key, key, null);
        }
        await(store, pages * PAGE_BYTES + live);
        assertThat(store.statistics().liveBytes()).isBetween(live - live / 4, 2 * live);
      }
      assertThat(store.statistics().compaction().passes()).isPositive();
      for (int key = 0; key < cold + hot; key++) {
        session.read(key, null);
        assertThat(session.value()).as("key " + key).isEqualTo(key);
      }
    }
  }

  private static void await(FasterStore store, long logBytes) {
    long start = System.nanoTime();
    while (store.statistics().logBytes() > logBytes) {
      assertThat(System.nanoTime() - start)
          .as(() -> store.statistics().logBytes() + " bytes, " + store.statistics().compaction())
          .isLessThan(PATIENCE_NANOS);
      Thread.onSpinWait();
    }
  }

  /** Everything is live: a run copies each record once and ends. */
  @Test
  void aRunOverAFullyLiveLogEnds() {
    try (FasterStore store = open();
        LongSession<Void> session = session(store)) {
      for (int key = 0; key < KEYS; key++) {
        session.rmw(key, 1, null);
      }
      store.checkpoints().take();
      long before = store.statistics().logBytes();
      store.log().compact();
      assertThat(store.statistics().compaction().movedRecords()).isLessThanOrEqualTo(KEYS);
      assertThat(store.statistics().compaction().movedRecords())
          .isGreaterThan(KEYS - 2 * PAGE_BYTES / 24);
      assertThat(store.statistics().logBytes()).isLessThanOrEqualTo(before + 2 * PAGE_BYTES);
    }
  }

  /**
   * The small records between the large ones once suggested that everything was live, and no run
   * ever began.
   */
  @Tag("slow")
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
            store.newSession().spans(new BytesFunctions())) {
      for (int i = 0; i < rounds; i++) {
        session.upsert(ByteSpan.of("large".getBytes(UTF_8)), large, null);
        for (int key = 0; key < 10; key++) {
          session.upsert(ByteSpan.of((i + " " + key).getBytes(UTF_8)), small, null);
        }
        long live = valueBytes + (i + 1) * 10L * 112;
        mostDead = Math.max(mostDead, store.statistics().logBytes() - live);
      }
      assertThat(store.statistics().compaction().passes()).isPositive();
    }
    assertThat(mostDead).isLessThan((long) rounds * valueBytes / 2);
  }
}
