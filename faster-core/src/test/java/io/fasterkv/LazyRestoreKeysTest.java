package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.MemoryOrigin.Run;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Versions;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.spi.KeyFilter;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that a lazily restored store drops the keys of other stores. */
class LazyRestoreKeysTest extends LazyRestoreStores {
  private static KeyFilter evenKeys() {
    return new KeyFilter() {
      @Override
      public boolean owns(ByteSpan key) {
        return key.getByte(3) % 2 == 0;
      }

      @Override
      public boolean mayOwn(ByteSpan keyHead) {
        return owns(keyHead);
      }
    };
  }

  /** There are no writes, and everything that the store owns is live. */
  @Tag("slow")
  @Test
  void keysOfOthersLeaveTheLog() throws Exception {
    List<Run> runs = exported();
    StoreConfig config =
        prepare(runs, config("second").keyFilter(evenKeys()).backgroundCompaction(true));
    RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    long imported = runs.getLast().until();
    try (FasterStore store = FasterStore.recover(config, request)) {
      store.checkpoints().list().forEach(store.checkpoints()::remove);
      long start = System.nanoTime();
      while (store.statistics().logBytes() > imported * 2 / 3) {
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PATIENCE);
        Thread.onSpinWait();
      }
      try (LogScan scan = store.log().scan(Versions.LIVE)) {
        int records = 0;
        while (scan.next()) {
          records++;
        }
        assertThat(records).isEqualTo(KEYS / 2);
      }
    }
  }

  @Test
  void keysOfOthersTakeNoRoomInTheIndex() throws Exception {
    List<Run> runs = exported();
    StoreConfig config = prepare(runs, config("second").keyFilter(evenKeys()));
    RecoveryRequest request = RecoveryRequest.newest().from(new MemoryOrigin(runs));
    try (FasterStore store = FasterStore.recover(config, request)) {
      store.checkpoints().list().forEach(store.checkpoints()::remove);
      assertThat(store.statistics().index().entries()).isBetween(KEYS / 3L, KEYS / 2L);
      List<Integer> seen = new ArrayList<>();
      try (LogScan scan = store.log().scan(Versions.LIVE)) {
        while (scan.next()) {
          seen.add(ByteBuffer.wrap(scan.key().toArray()).getInt());
        }
      }
      assertThat(seen).hasSize(KEYS / 2).allMatch(key -> key % 2 == 0);
    }
  }
}
