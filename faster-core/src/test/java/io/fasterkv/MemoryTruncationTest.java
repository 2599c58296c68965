package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Tests a truncation concurrent with a compaction, in a store in memory. */
class MemoryTruncationTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 1000;

  @Test
  void aRunThatHasWaitedLeavesTheTailPageAlone() throws InterruptedException {
    try (FasterStore store = open();
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      for (long key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
      }
      ReentrantLock sizeLock = Insides.engine(store).index().sizeLock();
      Thread pass = new Thread(store.log()::compact);
      sizeLock.lock();
      try {
        pass.start();
        while (!sizeLock.hasQueuedThread(pass)) {
          Thread.onSpinWait();
        }
        store.log().truncate(store.log().tailAddress());
      } finally {
        sizeLock.unlock();
      }
      pass.join();

      assertThat(store.log().beginAddress()).isLessThanOrEqualTo(store.log().tailAddress());
      session.upsert(1, 10, null);
      assertThat(session.read(1, null)).isEqualTo(Status.FOUND);
      assertThat(session.value()).isEqualTo(10);
    }
  }

  private static FasterStore open() {
    return FasterStore.open(
        StoreConfig.inMemory()
            .memoryBytes(1 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(64 << 10)
            .indexBytes(64 << 10)
            .backgroundCompaction(false)
            .recordKind(RecordKind.LONGS)
            .build());
  }
}
