package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.sim.ScriptedDevice;
import io.fasterkv.sim.ScriptedDevice.Script;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a device that fails during a resize of the index: the store reports the reason and closes.
 */
class ResizeFaultTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 6000;
  private static final String CAUSE = "Input/output error";

  @TempDir Path directory;

  private final ScriptedDevice device = new ScriptedDevice(new MemoryDevice());
  private FasterStore store;

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .maxIndexBytes(256 << 10)
        .indexBytes(64 << 10)
        .logMemoryBytes(4L * PAGE_BYTES)
        .pageBytes(PAGE_BYTES)
        .recordKind(RecordKind.LONGS)
        .build();
  }

  @BeforeEach
  void open() {
    store = FasterStore.open(config(), device);
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key++) {
        session.upsert(key, key, null);
      }
    }
  }

  private LongSession<Void> session() {
    return store.newSession().longs(LongFunctions.sum());
  }

  private void breakWrites() {
    device.setScript(
        new Script() {
          @Override
          public void beforeWrite(long address, long bytes) throws IOException {
            throw new IOException(CAUSE);
          }
        });
  }

  /**
   * A fork is written where the chains of two buckets join; there are far more forks than fit in
   * memory.
   */
  @Test
  void aShrinkageThatCannotWriteItsForksSaysWhy() {
    store.checkpoints().take();
    breakWrites();
    assertThatThrownBy(() -> store.index().shrink())
        .isInstanceOf(DeviceFailed.class)
        .hasRootCauseMessage(CAUSE);
    try (LongSession<Void> session = session()) {
      int found = 0;
      for (int key = 0; key < KEYS; key++) {
        found += reads(session, key) ? 1 : 0;
      }
      assertThat(found).as("chunks that were moved before remain readable").isPositive();
      assertThatThrownBy(
              () -> {
                for (int key = 0; key < KEYS; key++) {
                  session.upsert(key, 0, null);
                }
              })
          .isInstanceOf(DeviceFailed.class)
          .hasRootCauseMessage(CAUSE);
    }
    assertThatThrownBy(store.checkpoints()::take).isInstanceOf(DeviceFailed.class);
    assertThatThrownBy(() -> store.index().grow()).isInstanceOf(DeviceFailed.class);
    assertThat(store.statistics().index().bytes()).isPositive();
    device.setScript(Script.NONE);
    store.close();
    recovers();
  }

  /** The operation needs nothing from the device. */
  @Test
  void aGrowthWithABrokenDeviceEndsAndReadableRecordsAreRead() {
    store.checkpoints().take();
    breakWrites();
    store.log().cut().close();
    long bytes = store.statistics().index().bytes();
    assertThat(store.index().grow()).isEqualTo(2 * bytes);
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key++) {
        assertThat(reads(session, key)).as("key " + key).isTrue();
      }
      assertThatThrownBy(
              () -> {
                for (int key = KEYS; key < 2 * KEYS; key++) {
                  session.upsert(key, 0, null);
                }
              })
          .isInstanceOf(DeviceFailed.class)
          .hasRootCauseMessage(CAUSE);
    }
    store.close();
    device.setScript(Script.NONE);
    recovers();
  }

  /**
   * An Error of the user's hash while a bucket is moved: the next checkpoint finishes the resize.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 50, 400, 1500})
  void aResizeThatAnErrorHasCutShortIsFinished(int calls) {
    AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
    StoreConfig config =
        StoreConfig.builder(directory.resolve("hashed"))
            .memoryBytes(4 << 20)
            .indexBytes(16 << 10)
            .logMemoryBytes(64L * PAGE_BYTES)
            .pageBytes(PAGE_BYTES)
            .keyHash((memory, offset, length) -> {
              if (left.decrementAndGet() == 0) {
                throw new AssertionError("of the user");
              }
              return HashedKeys.hash(memory, offset, length);
            })
            .build();
    try (FasterStore spans = FasterStore.open(config, new MemoryDevice())) {
      write(spans, 0);
      // The tags of a smaller index do not tell the parts of its buckets, so records are hashed.
      spans.index().shrink();
      left.set(calls);
      Throwable thrown = catchThrowable(spans.index()::grow);
      left.set(Integer.MAX_VALUE);
      if (thrown != null) {
        assertThat(thrown).isInstanceOf(AssertionError.class).hasMessage("of the user");
      }
      assertThat(thrown == null)
          .as("an Error after 50 calls at the latest")
          .isIn(false, calls > 50);
      write(spans, 1000);
      assertThat(spans.checkpoints().take().number()).isPositive();
      assertThat(spans.statistics().index().bytes()).isEqualTo(16 << 10);
      StoreInvariants.check(spans);
      spans.index().shrink();
      StoreInvariants.check(spans);
    }
  }

  private static void write(FasterStore spans, int from) {
    try (var session = spans.newSession().spans(StoppingSum.plain())) {
      for (int i = 0; i < 2000; i++) {
        session.rmw(HashedKeys.key(HashedKeys.inBucket(i % 200, 256), from + i), 1L, null);
      }
    }
  }

  private static boolean reads(LongSession<Void> session, int key) {
    try {
      assertThat(session.read(key, null)).as("key " + key).isEqualTo(Status.FOUND);
      assertThat(session.value()).isEqualTo(key);
      return true;
    } catch (StoreException e) {
      assertThat(e).as("key " + key).hasRootCauseMessage(CAUSE);
      return false;
    }
  }

  private void recovers() {
    store = FasterStore.recover(config(), new CheckpointToken(1), device);
    try (LongSession<Void> session = session()) {
      for (int key = 0; key < KEYS; key++) {
        assertThat(reads(session, key)).isTrue();
      }
      StoreInvariants.check(store);
    }
    store.close();
  }
}
