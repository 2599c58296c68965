package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.LongSession;
import io.fasterkv.api.CheckpointKind;
import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log that nobody writes to gets rid of what expires. */
class ExpiryPassTest {
  private static final int PAGE_BYTES = 4096;
  private static final long RECORD_BYTES = 24;
  private static final long KEYS = 40_000;

  private static final long BETWEEN_WRITES_NANOS = 2_000_000;
  private static final int FEW_WRITES = 100;

  private static final Duration PATIENCE = Duration.ofSeconds(100);

  @TempDir Path directory;

  /** Keys are written in their order; those below the mark have expired. */
  private final AtomicLong mark = new AtomicLong();

  /** Old and new lie side by side, so all that is live must be copied. */
  @Test
  void expiredBytesAreAtMostAFifthOfTheLog() {
    try (FasterStore store = FasterStore.open(config(8));
        LongSession<Void> session =
            store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key * 7919 % KEYS, key, null);
      }
      expire(store, session, 1);
    }
  }

  /** So many tenths at a time. */
  private void expire(FasterStore store, LongSession<Void> session, int tenths) {
    for (long share = tenths; share < 10; share += tenths) {
      mark.set(KEYS / 10 * share);
      long live = (KEYS - mark.get()) * RECORD_BYTES;
      await(() -> store.logBytes() - live <= store.logBytes() / 5 + 8L * PAGE_BYTES, store);
    }
    assertThat(store.compactionStats().expiredBytes()).isPositive();
    for (long key = mark.get(); key < KEYS; key++) {
      assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
    }
  }

  @Test
  void soAreThoseOfALogThatIsOnlyInMemory() {
    try (FasterStore store = FasterStore.open(config(512));
        LongSession<Void> session =
            store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key * 7919 % KEYS, key, null);
      }
      expire(store, session, 1);
    }
  }

  /** As checkpoints come and go: what the last one needs stays, however much of it has expired. */
  @Test
  void soAreThoseOfALogThatFitsItsMemoryOnceItIsOnDisk() {
    try (FasterStore store = FasterStore.open(config(512));
        LongSession<Void> session =
            store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key * 7919 % KEYS, key, null);
      }
      store.checkpoint(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
      mark.set(KEYS / 2);

      await(() -> isShortAfterOneMore(store), store);

      for (long key = mark.get(); key < KEYS; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
      }
    }
  }

  /** What a checkpoint keeps stays on the disk, and copies come to that, but the log is short. */
  @Test
  void soAreThoseOfALogThatACheckpointKeepsForGood() {
    try (FasterStore store = FasterStore.open(config(8));
        LongSession<Void> session =
            store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key * 7919 % KEYS, key, null);
      }
      store.checkpoint(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
      // A pass that waits for the next checkpoint looks around each ten seconds.
      expire(store, session, 3);
    }
  }

  /** It waits for what is overwritten to die, and what expires does not wait for that. */
  @Test
  void soAreThoseOfALogOverWhichAPassTakesItsTime() {
    long expiring = 4 * KEYS;
    long lasting = KEYS;
    try (FasterStore store = FasterStore.open(config(8));
        LongSession<Void> session =
            store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
      for (long key = 0; key < expiring; key++) {
        session.upsert(key * 7919 % expiring, key, null);
      }
      Overwrites lastingOnes = new Overwrites(session, expiring, lasting);
      while (lastingOnes.written < lasting || store.compactionStats().scannedBytes() == 0) {
        lastingOnes.next();
      }
      long scanned = -1;
      while (store.compactionStats().scannedBytes() != scanned) {
        scanned = store.compactionStats().scannedBytes();
        lastingOnes.few();
      }
      mark.set(expiring / 2);
      long before = lastingOnes.written;

      await(
          () -> {
            lastingOnes.few();
            long expired = mark.get() * RECORD_BYTES - store.compactionStats().expiredBytes();
            return expired <= store.logBytes() / 5;
          },
          store);

      // Or it has found them only by going on as it is written to.
      assertThat(lastingOnes.written - before).isLessThan(mark.get() / 4);
      for (long key = mark.get(); key < expiring + lasting; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
      }
    }
  }

  /** Of some keys, in turn. */
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

    /** Slowly, but not so slowly that a pass would not wait, see {@link WriteQuiet}. */
    void few() {
      for (int i = 0; i < FEW_WRITES; i++) {
        next();
        LockSupport.parkNanos(BETWEEN_WRITES_NANOS);
      }
    }
  }

  /** Each checkpoint fills up a sector, so a log of which many are taken is not as short. */
  private static boolean isShortAfterOneMore(FasterStore store) {
    CheckpointToken last = store.checkpoints().getLast();
    store.checkpoint(CheckpointRequest.logOnly(CheckpointKind.FOLD_OVER));
    store.removeCheckpoint(last);
    long expired = KEYS / 2 * RECORD_BYTES - store.compactionStats().expiredBytes();
    return expired <= store.logBytes() / 5;
  }

  private static void await(java.util.function.BooleanSupplier isSo, FasterStore store) {
    long start = System.nanoTime();
    while (!isSo.getAsBoolean()) {
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .as(() -> "log " + store.logBytes() + ", " + store.compactionStats())
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
