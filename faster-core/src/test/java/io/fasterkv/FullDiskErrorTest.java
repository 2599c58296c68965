package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.log.HybridLog;
import io.fasterkv.spi.StoreExport;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests operations that need the disk while it is full: they fail, are retried, and succeed when
 * there is space.
 */
@Timeout(120)
class FullDiskErrorTest extends FullDiskStores {
  @Test
  void anExportIsAskedAgainWhenThereIsSpace() {
    try (FasterStore store = open(config(RecordKind.LONGS));
        LongSession<Object> session = session(store)) {
      add(session, 0, 100);
      space.refuse(FOR_EVER, "log.");
      try (StoreExport export = store.integration().export()) {
        for (int i = 0; i < 3; i++) {
          assertThatThrownBy(export::awaitWritten)
              .isInstanceOf(DiskFull.class)
              .hasMessageContaining("file=")
              .hasMessageContaining("offset=")
              .hasMessageContaining("No space left on device")
              .hasMessageContaining("free space");
        }
        add(session, 100, 200);
        space.refuse(0, "");
        export.awaitWritten();
        assertThat(export.pieces(0)).isNotEmpty();
      }
      store.checkpoints().take();
    }
    assertRecovers(200);
  }

  /** Refused writes are retried without any call of the store's methods. */
  @Test
  void refusedWritesAreRetriedButNotTooOften() throws Exception {
    try (FasterStore store = open(config(RecordKind.LONGS));
        LongSession<Object> session = session(store)) {
      add(session, 0, 100);
      long before = System.nanoTime();
      space.refuse(FOR_EVER, "log.");
      assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DiskFull.class);
      Thread.sleep(700);
      long refused = space.refused();
      // After 10, 30, 70, 150, 310 and 630 milliseconds, then every second, and for the checkpoint.
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - before);
      assertThat(refused).isBetween(2L, 8L + seconds);
      space.refuse(0, "");
      HybridLog log = Insides.engine(store).log();
      while (log.flushedAddress() < log.safeReadOnlyAddress()) {
        Thread.sleep(1);
      }
      assertHas(session, 100);
    }
  }

  /** A full disk does not fail a store that needs no room. */
  @Test
  void operationsThatNeedNoRoomContinue() throws Exception {
    try (FasterStore store =
            open(config(RecordKind.LONGS).logMemoryBytes(64 * PAGE_BYTES).spaceWaitMillis(50));
        LongSession<Object> session = session(store)) {
      add(session, 0, 100);
      space.refuse(FOR_EVER, "log.");
      for (int i = 0; i < 5; i++) {
        assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DiskFull.class);
        Thread.sleep(40);
        session.upsert(i, i, null);
      }
      space.refuse(0, "");
      store.checkpoints().take();
    }
    assertRecovers(100);
  }
}
