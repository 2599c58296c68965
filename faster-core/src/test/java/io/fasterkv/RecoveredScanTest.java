package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the page in which a recovered store continues, which is partly on the device and partly
 * new.
 */
class RecoveredScanTest {
  private static final int OLD = 200;
  private static final int NEW = 50;

  @TempDir Path directory;

  @Test
  void aScanSeesBothPartsOfThePage() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .pageBytes(32 << 10)
            .recordKind(RecordKind.LONGS)
            .build();
    try (FasterStore store = FasterStore.open(config)) {
      write(store, 0, OLD);
      store.checkpoints().take();
    }
    try (FasterStore store = FasterStore.recover(config)) {
      write(store, OLD, OLD + NEW);
      int seen = 0;
      try (LogScan scan = store.log().scan(Versions.LIVE)) {
        while (scan.next()) {
          seen++;
        }
      }
      assertThat(seen).isEqualTo(OLD + NEW);
    }
  }

  private static void write(FasterStore store, long from, long until) {
    try (LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = from; key < until; key++) {
        session.upsert(key, key, null);
      }
    }
  }
}
