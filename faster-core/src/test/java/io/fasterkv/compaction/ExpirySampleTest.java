package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.LongSession;
import io.fasterkv.Session;
import io.fasterkv.UpsertFunctions;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests samples of a log whose keys were written in order; those below a mark have expired. */
class ExpirySampleTest {
  private static final int PAGE_BYTES = 4096;
  private static final long KEYS = 40_000;

  @TempDir Path directory;

  private long mark;
  private long nanos;
  private int asked;
  private boolean isEager = true;
  private final KeepRule rule =
      new KeepRule() {
        @Override
        public boolean isEager() {
          return isEager;
        }

        @Override
        public boolean keeps(ByteSpan key, ByteSpan value, Lookup store) {
          asked++;
          return key.getLong(0) >= mark;
        }
      };

  @Test
  void aRunGoesAsFarAsRecordsHaveExpired() {
    try (FasterStore store = FasterStore.open(config())) {
      write(store);
      ExpirySample sample = sample(store);
      mark = KEYS / 2;
      nanos = Duration.ofMillis(200).toNanos();

      assertThat(sample.isDue()).isTrue();

      long log = store.statistics().logBytes();
      assertThat(sample.dueUntil() - store.log().beginAddress())
          .isBetween(log * 4 / 10, log * 6 / 10);
    }
  }

  /** One sample has a weight of a quarter in the estimate. */
  @Test
  void theEstimateIsCloseToTheTruth() {
    try (FasterStore store = FasterStore.open(config())) {
      write(store);
      ExpirySample sample = sample(store);
      mark = KEYS / 2;
      long log = store.statistics().logBytes();
      look(sample, 1);
      assertThat(sample.expiredBytes()).isBetween(log / 10, log * 3 / 20);
      look(sample, 20);
      assertThat(sample.expiredBytes()).isBetween(log * 45 / 100, log * 55 / 100);
    }
  }

  @Test
  void aRuleThatIsNotEagerIgnoresRecordsOnlyInMemoryOrKept() {
    try (FasterStore store = FasterStore.open(config(1 << 18, RecordKind.LONGS).build())) {
      write(store);
      ExpirySample sample = sample(store);
      mark = KEYS / 2;
      isEager = false;
      look(sample, 20);
      assertThat(sample.expiredBytes()).isZero();
      isEager = true;
      look(sample, 20);
      assertThat(sample.isTooMuch()).isTrue();
      isEager = false;
      assertThat(sample.isTooMuch()).isFalse();
    }
  }

  private void look(ExpirySample sample, int times) {
    for (int i = 0; i < times; i++) {
      nanos += Duration.ofSeconds(20).toNanos();
      sample.isDue();
    }
  }

  /** A run that waits for a checkpoint takes samples no more often than an idle store. */
  @Test
  void aWaitingRunSamplesLessAndLessOften() {
    try (FasterStore store = FasterStore.open(config())) {
      write(store);
      ExpirySample sample = sample(store);
      mark = KEYS / 2;
      sample.runBegins();
      for (int second = 0; second < 1000; second++) {
        nanos += Duration.ofSeconds(1).toNanos();
        sample.sampleAgain();
      }
      int records = 16 * (PAGE_BYTES / 24);
      assertThat(asked / records).isBetween(95, 110);
    }
  }

  /** A 60th of the log expires each second: doubling the pause would be too late. */
  @Test
  void samplesInTimeWhenRecordsExpireSteadily() {
    try (FasterStore store = FasterStore.open(config())) {
      write(store);
      ExpirySample sample = sample(store);
      boolean isDue = false;
      for (int tenth = 0; !isDue; tenth++) {
        mark = KEYS * tenth / 600;
        nanos += Duration.ofMillis(100).toNanos();
        isDue = sample.isDue();
      }
      assertThat(mark).isBetween(KEYS / 10, KEYS * 3 / 20);
    }
  }

  /** With four records in a step; the first records of all steps would be alike. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void recordsOfRegularSizeAreNotMistaken(int alive) {
    StoreConfig config =
        config(1 << 16, RecordKind.SPANS)
            .keepRule((key, value, store) -> key.getLong(0) % 2 == alive)
            .build();
    try (FasterStore store = FasterStore.open(config);
        Session<Object, Object, Object> session = store.newSession().spans(new UpsertFunctions())) {
      ByteSpan key = ByteSpan.of(new byte[Long.BYTES]);
      ByteSpan value = ByteSpan.of(new byte[32]);
      for (long number = 0; number < KEYS; number++) {
        key.putLong(0, number);
        session.upsert(key, value, "");
      }
      ExpirySample sample =
          new ExpirySample(
              Insides.engine(store),
              Objects.requireNonNull(config.keepRule()),
              () -> 0,
              () -> nanos);
      look(sample, 20);
      long log = store.statistics().logBytes();
      assertThat(log / KEYS).isEqualTo(64);
      assertThat(sample.expiredBytes()).isBetween(log * 45 / 100, log * 55 / 100);
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
        Insides.engine(store),
        rule,
        () -> store.statistics().compaction().expiredBytes(),
        () -> nanos);
  }

  private static void write(FasterStore store) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
      }
    }
  }

  private StoreConfig config() {
    return config(PAGE_BYTES, RecordKind.LONGS).build();
  }

  private StoreConfigBuilder config(int pageBytes, RecordKind kind) {
    return StoreConfig.builder(directory)
        .memoryBytes(16 << 20)
        .logMemoryBytes(8L * pageBytes)
        .pageBytes(pageBytes)
        .recordKind(kind)
        .deleteOnClose(true);
  }
}
