package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.RecordKind;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.Versions;
import io.fasterkv.device.MemoryDevice;
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
 * Writers that are held back because compaction is behind, which stands still in a read: who they
 * hold up, and who lets them go.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BrakeTest {
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
    return store.newLongSession(LongFunctions.sum(), SessionMode.BLOCKING);
  }

  /** Overwrites until the brake holds; the writer goes on when it is let go. */
  private void brake() {
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
      }
    }
    writer = Pause.begin(this::overwrite);
    long bound = 2 * Math.max(LIVE, MEMORY) + 2 * MEMORY;
    // It is held when nothing is allocated any more, though the device is not behind.
    while (store.logBytes() <= bound) {
      Thread.onSpinWait();
    }
    Pause.awaitWaiting(writer);
    assertThat(store.logBytes()).isLessThanOrEqualTo(bound + 2 * PAGE_BYTES);
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
    long before = store.logBytes();
    Pause.awaitWaiting(writer);
    assertThat(store.logBytes()).isEqualTo(before);
  }

  /** All of it is live: no pass would drop any. */
  @Test
  void newKeysAreNotHeldByACompactionThatCannotGain() {
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < 5 * KEYS; key++) {
        session.upsert(key, key, null);
      }
      for (int key = 5 * KEYS; key < 10 * KEYS; key++) {
        session.rmw(key, 1, null);
      }
      assertThat(store.logBytes()).isGreaterThan(10 * LIVE);
    }
  }

  @Test
  void overwritesAreHeldUntilCompactionHasDropped() {
    brake();
    assertHeld();
    mayCompact.countDown();
    while (store.compactionStats().droppedBytes() < LIVE) {
      Thread.onSpinWait();
    }
    assertThat(thrown.get()).isNull();
  }

  @Test
  void readsAndUpdatesInPlaceGoOn() {
    brake();
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key++) {
        assertThat(session.read(key, null)).isEqualTo(Status.FOUND);
      }
      assertThat(session.delete(KEYS, null)).isEqualTo(Status.NOT_FOUND);
    }
    assertHeld();
  }

  @Test
  void theIndexIsResizedBesideWritersThatAreHeld() {
    brake();
    long bytes = store.growIndex();
    assertThat(store.shrinkIndex()).isEqualTo(bytes / 2);
    mayCompact.countDown();
    while (store.compactionStats().droppedBytes() < LIVE) {
      Thread.onSpinWait();
    }
    assertThat(thrown.get()).isNull();
  }

  @Test
  void checkpointsCutsAndScansEndBesideWritersThatAreHeld() {
    brake();
    store.checkpoint();
    try (LogCut cut = store.cut();
        LogScan scan = cut.scan();
        LogScan live = store.scan(Versions.LIVE)) {
      assertThat(scan.next()).isTrue();
      assertThat(live.next()).isTrue();
    }
    assertHeld();
  }

  /** Nothing is allocated for ever after: who is held is told why, too. */
  @Test
  void aPageThatCannotBeWrittenEndsTheWaitOfWritersThatAreHeld() {
    brake();
    failure = new IOException("Input/output error");
    store.cut().close();
    Pause.join(writer);
    assertThat(thrown.get())
        .isInstanceOf(DeviceFailed.class)
        .hasRootCauseMessage("Input/output error");
    assertThatThrownBy(store::checkpoint).isInstanceOf(DeviceFailed.class);
  }

  @Test
  void aPageThatCompactionCannotReadEndsTheWaitOfWritersThatAreHeld() {
    brake();
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
