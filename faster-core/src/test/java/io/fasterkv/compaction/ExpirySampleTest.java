package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.LongSession;
import io.fasterkv.api.KeepRule;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a log whose keys were written in their order; those below a mark have expired. */
class ExpirySampleTest {
  private static final int PAGE_BYTES = 4096;
  private static final long KEYS = 40_000;

  @TempDir Path directory;

  private long mark;
  private long nanos;
  private int asked;
  private final KeepRule rule =
      (key, value, store) -> {
        asked++;
        return key.getLong(0) >= mark;
      };

  @Test
  void aPassGoesAsFarAsRecordsHaveExpired() {
    try (FasterStore store = FasterStore.open(config())) {
      write(store);
      ExpirySample sample = sample(store);
      mark = KEYS / 2;
      nanos = Duration.ofMillis(200).toNanos();

      assertThat(sample.isDue()).isTrue();

      long log = store.logBytes();
      assertThat(sample.expiredBytes()).isBetween(log * 4 / 10, log * 6 / 10);
      assertThat(sample.dueUntil() - store.beginAddress()).isBetween(log * 4 / 10, log * 6 / 10);
    }
  }

  @Test
  void aFewExpiredRecordsAreLeft() {
    try (FasterStore store = FasterStore.open(config())) {
      write(store);
      ExpirySample sample = sample(store);
      mark = KEYS / 20;
      nanos = Duration.ofMillis(200).toNanos();

      assertThat(sample.isDue()).isFalse();
    }
  }

  /** An idle store reads 16 pages in ten seconds. */
  @Test
  void looksMoreAndMoreRarely() {
    try (FasterStore store = FasterStore.open(config())) {
      write(store);
      ExpirySample sample = sample(store);
      for (int second = 0; second < 1000; second++) {
        nanos += Duration.ofSeconds(1).toNanos();
        assertThat(sample.isDue()).isFalse();
      }
      int records = 16 * (PAGE_BYTES / 24);
      assertThat(asked / records).isBetween(95, 110);
    }
  }

  private ExpirySample sample(FasterStore store) {
    return new ExpirySample(
        Insides.engine(store), rule, () -> store.compactionStats().expiredBytes(), () -> nanos);
  }

  private static void write(FasterStore store) {
    try (LongSession<Void> session =
        store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING)) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
      }
    }
  }

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .logMemoryBytes(8L * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .recordKind(RecordKind.LONGS)
        .deleteOnClose(true)
        .build();
  }
}
