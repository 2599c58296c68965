package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.Versions;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.sim.ScriptedDevice;
import io.fasterkv.sim.ScriptedDevice.Script;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests writers that are throttled because compaction, which is blocked in a read, is behind: which
 * operations they block, and what releases them.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TailLimitTest {
  private static final int PAGE_BYTES = 4096;
  private static final long MEMORY = 8L * PAGE_BYTES;
  private static final int KEYS = 4000;
  private static final long LIVE = 24L * KEYS;

  @TempDir Path directory;

  private final ScriptedDevice device = new ScriptedDevice(new MemoryDevice());
  private final CountDownLatch mayCompact = new CountDownLatch(1);
  private volatile IOException failure;
  private FasterStore store;
  private Thread writer;
  private final AtomicReference<Throwable> thrown = new AtomicReference<>();
  private volatile boolean isEnough;

  @BeforeEach
  void open() {
    device.setScript(new StandingCompaction());
    store =
        FasterStore.open(
            StoreConfig.builder(directory)
                .memoryBytes(8 << 20)
                .maxIndexBytes(2 << 20)
                .indexBytes(1 << 20)
                .logMemoryBytes(MEMORY)
                .pageBytes(PAGE_BYTES)
                .recordKind(RecordKind.LONGS)
                .backgroundCompaction(true)
                .build(),
            device);
  }

  @AfterEach
  void close() {
    isEnough = true;
    mayCompact.countDown();
    if (writer != null) {
      Pause.join(writer);
    }
    store.close();
  }

  private LongSession<Void> session() {
    return store.newSession().longs(LongFunctions.sum());
  }

  /** Overwrites until the throttle blocks the writer; the writer continues when it is released. */
  private void fillUntilBlocked() {
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
      }
    }
    writer = Pause.begin(this::overwrite);
    long bound = 2 * Math.max(LIVE, MEMORY) + 2 * MEMORY;
    // The throttle blocks if nothing more is allocated although the device is not behind.
    while (store.statistics().logBytes() <= bound) {
      Thread.onSpinWait();
    }
    Pause.awaitWaiting(writer);
    assertThat(store.statistics().logBytes()).isLessThanOrEqualTo(bound + 2 * PAGE_BYTES);
  }

  private void overwrite() {
    SplittableRandom random = new SplittableRandom(1);
    try (LongSession<Void> session = session()) {
      while (!isEnough) {
        session.upsert(random.nextInt(KEYS), 1, null);
      }
    } catch (Throwable e) {
      thrown.set(e);
    }
  }

  private void assertHeld() {
    long before = store.statistics().logBytes();
    Pause.awaitWaiting(writer);
    assertThat(store.statistics().logBytes()).isEqualTo(before);
  }

  /** Everything is live: no run would drop anything. */
  @Test
  void newKeysAreNotHeldByACompactionThatCannotGain() {
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < 5 * KEYS; key++) {
        session.upsert(key, key, null);
      }
      for (int key = 5 * KEYS; key < 10 * KEYS; key++) {
        session.rmw(key, 1, null);
      }
      assertThat(store.statistics().logBytes()).isGreaterThan(10 * LIVE);
    }
  }

  @Test
  void overwritesAreHeldUntilCompactionHasDropped() {
    fillUntilBlocked();
    assertHeld();
    mayCompact.countDown();
    while (store.statistics().compaction().droppedBytes() < LIVE) {
      Thread.onSpinWait();
    }
    assertThat(thrown.get()).isNull();
  }

  @Test
  void readsAndUpdatesInPlaceContinue() {
    fillUntilBlocked();
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
      }
      assertThat(session.delete(KEYS, null)).isEqualTo(Status.NOT_FOUND);
    }
    assertHeld();
  }

  @Test
  void theIndexIsResizedWhileWritersAreThrottled() {
    fillUntilBlocked();
    long bytes = store.index().grow();
    assertThat(store.index().shrink()).isEqualTo(bytes / 2);
    mayCompact.countDown();
    while (store.statistics().compaction().droppedBytes() < LIVE) {
      Thread.onSpinWait();
    }
    assertThat(thrown.get()).isNull();
  }

  @Test
  void checkpointsCutsAndScansCompleteWhileWritersAreThrottled() {
    fillUntilBlocked();
    store.checkpoints().take();
    try (LogCut cut = store.log().cut();
        LogScan scan = cut.scan();
        LogScan live = store.log().scan(Versions.LIVE)) {
      assertThat(scan.next()).isTrue();
      assertThat(live.next()).isTrue();
    }
    assertHeld();
  }

  /** Nothing is allocated from then on: throttled writers get the reason too. */
  @Test
  void aPageThatCannotBeWrittenEndsTheWaitOfWritersThatAreHeld() {
    fillUntilBlocked();
    failure = new IOException("Input/output error");
    store.log().cut().close();
    Pause.join(writer);
    assertThat(thrown.get())
        .isInstanceOf(DeviceFailed.class)
        .hasRootCauseMessage("Input/output error");
    assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DeviceFailed.class);
  }

  @Test
  void aPageThatCompactionCannotReadEndsTheWaitOfWritersThatAreHeld() {
    fillUntilBlocked();
    failure = new IOException("Input/output error");
    mayCompact.countDown();
    Pause.join(writer);
    assertThat(thrown.get())
        .isInstanceOf(DeviceFailed.class)
        .hasRootCauseMessage("Input/output error");
  }

  private final class StandingCompaction implements Script {
    @Override
    public void beforeRead(long address, long bytes) throws IOException {
      if (!Thread.currentThread().getName().startsWith("faster-compaction-")) {
        return;
      }
      try {
        if (!mayCompact.await(100, TimeUnit.SECONDS)) {
          throw new IOException("nobody lets compaction go on");
        }
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      fail();
    }

    @Override
    public void beforeWrite(long address, long bytes) throws IOException {
      fail();
    }

    private void fail() throws IOException {
      IOException cause = failure;
      if (cause != null) {
        throw cause;
      }
    }
  }
}
