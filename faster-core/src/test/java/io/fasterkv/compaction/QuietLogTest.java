package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.LongSession;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a log that is long when nothing is appended any more, because records that count as live
 * were deleted: it is compacted, once, since its readers would follow long chains for ever.
 */
class QuietLogTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 16_000;
  private static final int DELETED = KEYS * 45 / 100;
  private static final int WAKE_UPS = 20 * WriteQuiet.LOOKS;

  @TempDir Path directory;

  private final CountDownLatch isLoaded = new CountDownLatch(1);
  private final CountDownLatch isDeleted = new CountDownLatch(1);
  private final CountDownLatch isOver = new CountDownLatch(1);
  private int wakeUps;
  private long passesAtHalf;
  private Compactor compactor;

  @Test
  void aLogThatIsTooLongForItsReadersIsCompactedOnce() throws Exception {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .logMemoryBytes(4L * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .recordKind(RecordKind.LONGS)
            .build();
    try (FasterStore store = FasterStore.open(config, new MemoryDevice());
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      compactor = Insides.compactor(store);
      for (int i = 0; i < 2 * KEYS; i++) {
        session.upsert(i % KEYS, i, null);
      }
      try (BackgroundCompaction background =
              new BackgroundCompaction(Insides.engine(store), compactor, config, this::wakeUp);
          AutoCloseable release = isDeleted::countDown) {
        background.start();
        assertThat(isLoaded.await(100, TimeUnit.SECONDS)).isTrue();
        long passes = compactor.stats().passes();
        long loaded = length(store);
        assertThat(passes).as("half of the log was dead").isPositive();
        for (int key = 0; key < DELETED; key++) {
          session.delete(key, null);
        }
        session.completePending(true);
        long deleted = length(store);
        assertThat(deleted).isGreaterThan(loaded);
        isDeleted.countDown();
        assertThat(isOver.await(100, TimeUnit.SECONDS)).isTrue();
        assertThat(background.failure()).isNull();
        long live = loaded / KEYS * (KEYS - DELETED);
        assertThat(length(store)).isLessThan(live + live / 4);
        assertThat(compactor.stats().passes()).as("not again").isEqualTo(passesAtHalf);
      }
    }
  }

  private static long length(FasterStore store) {
    return store.log().tailAddress() - store.log().beginAddress();
  }

  /** Replaces a pause: no time passes between two pauses. */
  private void wakeUp(long nanos) {
    wakeUps++;
    if (wakeUps == WAKE_UPS) {
      isLoaded.countDown();
      try {
        isDeleted.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    } else if (wakeUps == WAKE_UPS + WAKE_UPS / 2) {
      passesAtHalf = compactor.stats().passes();
    } else if (wakeUps == 2 * WAKE_UPS) {
      isOver.countDown();
    }
  }
}
