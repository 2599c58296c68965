package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.checkpoint.CheckpointKind;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a log without writes drops expired records. */
class ExpiryRunTest {
  private static final int PAGE_BYTES = 4096;
  private static final long RECORD_BYTES = 24;
  private static final long KEYS = 40_000;

  private static final long BETWEEN_WRITES_NANOS = 2_000_000;
  private static final int FEW_WRITES = 100;

  private static final Duration PATIENCE = Duration.ofSeconds(100);

  @TempDir Path directory;

  /** Keys are written in order; those below the mark have expired. */
  private final AtomicLong mark = new AtomicLong();

  /** Old and new records alternate, so all live ones must be copied. */
  @Test
  void expiredBytesAreAtMostAFifthOfTheLog() {
    try (FasterStore store = FasterStore.open(config(8));
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key * 7919 % KEYS, key, null);
      }
      expire(store, session, 1);
    }
  }

  /** Expires this many tenths at a time. */
  private void expire(FasterStore store, LongSession<Void> session, int tenths) {
    for (long share = tenths; share < 10; share += tenths) {
      mark.set(KEYS / 10 * share);
      long live = (KEYS - mark.get()) * RECORD_BYTES;
      await(
          () ->
              store.statistics().logBytes() - live
                  <= store.statistics().logBytes() / 5 + 8L * PAGE_BYTES,
          store);
    }
    assertThat(store.statistics().compaction().expiredBytes()).isPositive();
    for (long key = mark.get(); key < KEYS; key++) {
      assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
    }
  }

  @Tag("slow")
  @Test
  void dropsExpiredRecordsOfALogThatIsOnlyInMemory() {
    try (FasterStore store = FasterStore.open(config(512));
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key * 7919 % KEYS, key, null);
      }
      expire(store, session, 1);
    }
  }

  /**
   * With regular checkpoints: everything that the last one needs is kept, however much of it has
   * expired.
   */
  @Test
  void soAreThoseOfALogThatFitsItsMemoryOnceItIsOnDisk() {
    try (FasterStore store = FasterStore.open(config(512));
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key * 7919 % KEYS, key, null);
      }
      store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
      mark.set(KEYS / 2);

      await(() -> isShortAfterOneMore(store), store);

      for (long key = mark.get(); key < KEYS; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
      }
    }
  }

  /** A checkpoint's storage stays on the disk in addition to the copies, but the log is short. */
  @Tag("slow")
  @Test
  void soAreThoseOfALogThatACheckpointKeepsForGood() {
    try (FasterStore store = FasterStore.open(config(8));
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key * 7919 % KEYS, key, null);
      }
      store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
      // A run that waits for the next checkpoint takes a sample every ten seconds.
      expire(store, session, 3);
    }
  }

  /** A run waits for overwritten records to die, but drops expired records without that wait. */
  @Tag("slow")
  @Test
  void dropsExpiredRecordsDuringASlowRun() {
    long expiring = 4 * KEYS;
    long lasting = KEYS;
    try (FasterStore store = FasterStore.open(config(8));
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < expiring; key++) {
        session.upsert(key * 7919 % expiring, key, null);
      }
      Overwrites lastingOnes = new Overwrites(session, expiring, lasting);
      while (lastingOnes.written < lasting || store.statistics().compaction().scannedBytes() == 0) {
        lastingOnes.next();
      }
      long scanned = -1;
      while (store.statistics().compaction().scannedBytes() != scanned) {
        scanned = store.statistics().compaction().scannedBytes();
        lastingOnes.few();
      }
      mark.set(expiring / 2);
      long before = lastingOnes.written;

      await(
          () -> {
            lastingOnes.few();
            long expired =
                mark.get() * RECORD_BYTES - store.statistics().compaction().expiredBytes();
            return expired <= store.statistics().logBytes() / 5;
          },
          store);

      // Or the run has found them only because writes made it continue.
      assertThat(lastingOnes.written - before).isLessThan(mark.get() / 4);
      for (long key = mark.get(); key < expiring + lasting; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
      }
    }
  }

  /** Some keys, in order. */
  private static final class Overwrites {
    private final LongSession<Void> session;
    private final long firstKey;
    private final long keys;
    private long written;

    Overwrites(LongSession<Void> session, long firstKey, long keys) {
      this.session = session;
      this.firstKey = firstKey;
      this.keys = keys;
    }

    void next() {
      session.upsert(firstKey + written++ % keys, 0, null);
    }

    /** Writes slowly, but fast enough for a run to wait; see {@link WriteQuiet}. */
    void few() {
      for (int i = 0; i < FEW_WRITES; i++) {
        next();
        LockSupport.parkNanos(BETWEEN_WRITES_NANOS);
      }
    }
  }

  /** Each checkpoint fills up a sector, so a log with many checkpoints is longer. */
  private static boolean isShortAfterOneMore(FasterStore store) {
    CheckpointToken last = store.checkpoints().list().getLast();
    store.checkpoints().take(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
    store.checkpoints().remove(last);
    long expired = KEYS / 2 * RECORD_BYTES - store.statistics().compaction().expiredBytes();
    return expired <= store.statistics().logBytes() / 5;
  }

  private static void await(java.util.function.BooleanSupplier isSo, FasterStore store) {
    long start = System.nanoTime();
    while (!isSo.getAsBoolean()) {
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .as(() -> "log " + store.statistics().logBytes() + ", " + store.statistics().compaction())
          .isLessThan(PATIENCE);
      Thread.onSpinWait();
    }
  }

  private StoreConfig config(int pagesInMemory) {
    return StoreConfig.builder(directory)
        .memoryBytes(4 << 20)
        .logMemoryBytes((long) pagesInMemory * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .recordKind(RecordKind.LONGS)
        .deleteOnClose(true)
        .backgroundCompaction(true)
        .keepRule((key, value, store) -> key.getLong(0) >= mark.get())
        .build();
  }
}
