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
  void refusedWritesAreRetriedButNotTooOften() {
    try (FasterStore store = open(config(RecordKind.LONGS));
        LongSession<Object> session = session(store)) {
      add(session, 0, 100);
      long before = System.nanoTime();
      space.refuse(FOR_EVER, "log.");
      assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DiskFull.class);
      Pause.until(() -> space.refused() >= 6);
      long refused = space.refused();
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before);
      assertThat(refused).isLessThanOrEqualTo(mostRefused(millis));
      space.refuse(0, "");
      HybridLog log = Insides.engine(store).log();
      Pause.until(() -> log.flushedAddress() >= log.safeReadOnlyAddress());
      assertHas(session, 100);
    }
  }

  /**
   * The first write is refused, the one for the checkpoint, and then a retry after 10, 30, 70, 150,
   * 310 and 630 milliseconds and every second.
   */
  private static long mostRefused(long millis) {
    int doublings = Long.SIZE - 1 - Long.numberOfLeadingZeros(millis / 10 + 1);
    return 2 + Math.min(6, doublings) + TimeUnit.MILLISECONDS.toSeconds(millis);
  }

  /** A full disk does not fail a store that needs no room. */
  @Test
  void operationsThatNeedNoRoomContinue() {
    try (FasterStore store =
            open(config(RecordKind.LONGS).logMemoryBytes(64 * PAGE_BYTES).spaceWaitMillis(50));
        LongSession<Object> session = session(store)) {
      add(session, 0, 100);
      space.refuse(FOR_EVER, "log.");
      for (int i = 0; space.refused() < 6; i++) {
        assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DiskFull.class);
        session.upsert(i % 100, i % 100, null);
      }
      space.refuse(0, "");
      store.checkpoints().take();
    }
    assertRecovers(100);
  }
}
