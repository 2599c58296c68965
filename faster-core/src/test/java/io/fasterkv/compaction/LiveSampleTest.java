package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.BytesFunctions;
import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.LongSession;
import io.fasterkv.UpsertFunctions;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveSampleTest {
  private static final int PAGE_BYTES = 4096;
  private static final long KEYS = 40_000;

  @TempDir Path directory;

  /**
   * So few entries that most chains continue on disk, where an upsert cannot detect that a key is
   * new.
   */
  private FasterStore open(boolean withCompaction) {
    return open(withCompaction, 64 << 10);
  }

  private FasterStore open(boolean withCompaction, long indexBytes) {
    return FasterStore.open(
        StoreConfig.builder(directory.resolve("store"))
            .recordKind(RecordKind.LONGS)
            .memoryBytes(1 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(8 * PAGE_BYTES)
            .indexBytes(indexBytes)
            .segmentBytes(1 << 16)
            .backgroundCompaction(withCompaction)
            .deleteOnClose(true)
            .build());
  }

  private static void upsert(FasterStore store, long from, long until) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = from; key < until; key++) {
        session.upsert(key, key, null);
      }
    }
  }

  private static double liveShare(FasterStore store) {
    LiveSample sample = new LiveSample(Insides.engine(store));
    assertThat(sample.sample()).isTrue();
    return (double) sample.leastBytes() / store.statistics().logBytes();
  }

  @Test
  void allOfALoadIsLive() {
    try (FasterStore store = open(false)) {
      upsert(store, 0, KEYS);
      assertThat(liveShare(store)).isEqualTo(1);
    }
  }

  @Test
  void replacedRecordsAreDead() {
    try (FasterStore store = open(false)) {
      upsert(store, 0, KEYS);
      upsert(store, 0, KEYS / 2);
      assertThat(liveShare(store)).isBetween(0.5, 0.8);
      upsert(store, 0, KEYS);
      upsert(store, 0, KEYS);
      assertThat(liveShare(store)).isBetween(0.15, 0.45);
    }
  }

  /** A record deleted in place has no index entry, and a scan does not return it. */
  @Test
  void recordsDeletedInPlaceAreDead() {
    try (FasterStore store = open(false, 512 << 10);
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
        if (key % 2 == 0) {
          session.delete(key, null);
        }
      }
      assertThat(liveShare(store)).isBetween(0.4, 0.6);
    }
  }

  @Test
  void aLogInMemoryHasNoSample() {
    try (FasterStore store = open(false)) {
      upsert(store, 0, 200);
      assertThat(new LiveSample(Insides.engine(store)).sample()).isFalse();
    }
  }

  /** With more records from each page, the estimate is as good. */
  @Test
  void aFewPagesStandForAsManyMore() {
    try (FasterStore store = open(false)) {
      upsert(store, 0, 2000);
      LiveSample sample = new LiveSample(Insides.engine(store));
      assertThat(sample.sample()).isTrue();
      assertThat(sample.sampledBytes()).isBetween(PAGE_BYTES + 0L, 8L * PAGE_BYTES);
      assertThat(sample.liveSampledBytes()).isEqualTo(sample.sampledBytes());
      assertThat(sample.leastBytes()).isEqualTo(2 * sample.sampledBytes());
    }
  }

  private StoreConfigBuilder bytes() {
    return StoreConfig.builder(directory.resolve("store"))
        .memoryBytes(2 << 20)
        .scratchBytes(1 << 18)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(8 * PAGE_BYTES)
        .deleteOnClose(true);
  }

  /** Large values are not examined: they may be dead or live. */
  @Test
  void recordsThatAreNotSampledMayBeLive() {
    try (FasterStore store = FasterStore.open(bytes().build());
        var session = store.newSession().spans(new UpsertFunctions())) {
      ByteSpan small = ByteSpan.of(new byte[100]);
      ByteSpan large = ByteSpan.of(new byte[3 * PAGE_BYTES]);
      for (int i = 0; i < 200; i++) {
        session.upsert(key(i), large, null);
        for (int j = 1; j <= 40; j++) {
          session.upsert(key(1000 * j + i), small, null);
        }
      }
      LiveSample sample = new LiveSample(Insides.engine(store));
      assertThat(sample.sample()).isTrue();
      assertThat((double) sample.leastBytes() / store.statistics().logBytes()).isBetween(0.1, 0.6);
      assertThat(sample.mostBytes()).isEqualTo(store.statistics().logBytes());
    }
  }

  /** Records under deltas may or may not be a part of a value. */
  @Test
  void recordsUnderDeltasMayBeLive() {
    int keys = 1000;
    try (FasterStore store = FasterStore.open(bytes().merge(new BytesFunctions()).build());
        var session = store.newSession().spans(new BytesFunctions())) {
      for (int i = 0; i < keys; i++) {
        session.upsert(key(i), ByteSpan.of(new byte[1000]), null);
      }
      LiveSample sample = new LiveSample(Insides.engine(store));
      assertThat(sample.sample()).isTrue();
      assertThat(sample.liveSampledBytes()).isEqualTo(sample.sampledBytes());
      for (int i = 0; i < keys; i++) {
        session.rmw(key(i), new byte[20], null);
      }
      assertThat(sample.sample()).isTrue();
      // Records in memory were copied: the copies are live and the originals dead.
      assertThat((double) sample.leastBytes() / store.statistics().logBytes()).isLessThan(0.3);
      assertThat((double) sample.mostBytes() / store.statistics().logBytes()).isGreaterThan(0.7);
    }
  }

  /**
   * A record that fills its page starts at the start of the page; a random address may be anywhere
   * in it.
   */
  @Test
  void recordsCountByTheirLength() {
    int keys = 200;
    ByteSpan long3000 = ByteSpan.of(new byte[3000]);
    try (FasterStore store = FasterStore.open(bytes().build());
        var session = store.newSession().spans(new UpsertFunctions())) {
      for (int i = 0; i < keys; i++) {
        session.upsert(key(i), long3000, null);
      }
      assertThat(liveShare(store)).isEqualTo(1);
      for (int i = 0; i < keys; i++) {
        session.upsert(key(i), long3000, null);
        session.upsert(key(keys + i), ByteSpan.of(new byte[300]), null);
      }
      assertThat(liveShare(store)).isBetween(0.35, 0.7);
    }
  }

  private static ByteSpan key(int key) {
    return ByteSpan.of(ByteBuffer.allocate(Integer.BYTES).putInt(key).array());
  }

  /**
   * The log was once copied as a whole each time it had doubled; later, its first pages were copied
   * for nothing.
   */
  @Tag("slow")
  @Test
  void aLoadIsNotCopied() {
    try (FasterStore store = open(true)) {
      upsert(store, 0, KEYS);
      long loaded = store.statistics().logBytes();
      assertThat(store.statistics().compaction().movedBytes()).isZero();
      for (int i = 0; i < 4; i++) {
        upsert(store, 0, KEYS);
      }
      assertThat(store.statistics().compaction().droppedBytes()).isGreaterThan(loaded);
    }
  }
}
