package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.log.HybridLog;
import io.fasterkv.sim.ScriptedDevice;
import io.fasterkv.sim.ScriptedDevice.Script;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the check of a quiet store is correct even while its flushes are still in progress.
 */
class StoreInvariantsTest {
  private static final int PAGE_BYTES = 4096;
  private static final int PAGES = 16;
  private static final int KEYS = 2000;
  private static final int SEGMENT_BYTES = 8 * PAGE_BYTES;

  @TempDir Path directory;

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(4 << 20)
        .pageBytes(PAGE_BYTES)
        .logMemoryBytes(PAGES * PAGE_BYTES)
        .segmentBytes(SEGMENT_BYTES)
        .mutableFraction(1)
        .indexBytes(1 << 16)
        .build();
  }

  /**
   * The check's own cut writes the last pages; when the writes have ended, the oldest page is
   * evicted.
   */
  @Test
  void aFrameIsNotClearedWhileARecordOfItIsCopied() {
    ScriptedDevice device = new ScriptedDevice(new FileDevice(directory, SEGMENT_BYTES));
    try (FasterStore store = FasterStore.open(config(), device)) {
      fill(store);
      HybridLog log = Insides.engine(store).log();
      long gone = log.pageEnd(log.headAddress());
      HeldCompletions held = new HeldCompletions();
      device.setScript(held);
      try {
        StoreInvariants.check(store, new EndWrites(held, log, gone));
        assertThat(log.headAddress()).isGreaterThanOrEqualTo(gone);
      } finally {
        device.setScript(Script.NONE);
        held.runAll();
      }
    }
  }

  private static void fill(FasterStore store) {
    try (var session = store.newSession().spans(new BytesFunctions())) {
      for (int key = 0; key < KEYS; key++) {
        session.upsert(ByteSpan.of(new byte[] {(byte) key, (byte) (key >>> 8)}), value(key), null);
      }
    }
    HybridLog log = Insides.engine(store).log();
    log.room().awaitFlushed(log.readOnlyAddress());
    log.assist();
  }

  private static ByteSpan value(int key) {
    byte[] value = new byte[40];
    value[0] = (byte) key;
    return ByteSpan.of(value);
  }

  /** Writes end only on request. */
  private static final class HeldCompletions implements Script {
    private final BlockingQueue<Runnable> held = new LinkedBlockingQueue<>();

    @Override
    public void complete(Runnable completion) {
      held.add(completion);
    }

    void runOne() {
      try {
        held.take().run();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    void runAll() {
      for (Runnable one = held.poll(); one != null; one = held.poll()) {
        one.run();
      }
    }
  }

  /** Ends writes, once, on another thread, until a record's page has been evicted. */
  private record EndWrites(HeldCompletions held, HybridLog log, long gone) implements LongConsumer {
    @Override
    public void accept(long address) {
      if (address >= gone || log.headAddress() >= gone) {
        return;
      }
      Pause.join(Pause.begin(this::endUntilEvicted));
    }

    private void endUntilEvicted() {
      while (log.headAddress() < gone) {
        held.runOne();
      }
    }
  }
}
