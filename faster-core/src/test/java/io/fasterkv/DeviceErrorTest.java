package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.sim.ScriptedDevice;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a device that throws an Error instead of reporting a failure: every call ends, with the
 * Error as its cause.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeviceErrorTest {
  private static final int PAGE_BYTES = 4096;
  private static final int KEYS = 20 * PAGE_BYTES / 24;

  @TempDir Path directory;

  private final ScriptedDevice device = new ScriptedDevice(new MemoryDevice());
  private final AssertionError thrown = new AssertionError("on purpose");

  private FasterStore open() {
    StoreConfig config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes(8L * PAGE_BYTES)
            .indexBytes(64 << 10)
            .recordKind(RecordKind.LONGS)
            .build();
    return FasterStore.open(config, device);
  }

  @Test
  void aWriteThatThrowsNeverHangsWritersOrCheckpoints() {
    try (FasterStore store = open();
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      session.upsert(1, 10, null);
      device.setScript(
          new ScriptedDevice.Script() {
            @Override
            public void beforeWrite(long address, long bytes) {
              throw thrown;
            }
          });
      assertThatThrownBy(() -> fill(session)).isInstanceOf(DeviceFailed.class).hasRootCause(thrown);
      assertThatThrownBy(store.checkpoints()::take)
          .isInstanceOf(DeviceFailed.class)
          .hasRootCause(thrown);
      assertThat(session.read(1, null)).as("reads still succeed").isEqualTo(Status.FOUND);
      assertThat(session.value()).isEqualTo(1);
    }
  }

  @Test
  void aForceThatThrowsIsNeverFollowedByACheckpointThatCounts() {
    try (FasterStore store = open();
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      session.upsert(1, 10, null);
      device.setScript(
          new ScriptedDevice.Script() {
            @Override
            public void beforeForce() {
              throw thrown;
            }
          });
      assertThatThrownBy(store.checkpoints()::take).isSameAs(thrown);
      device.setScript(ScriptedDevice.Script.NONE);
      assertThatThrownBy(store.checkpoints()::take)
          .isInstanceOf(DeviceFailed.class)
          .hasRootCause(thrown);
      assertThat(store.checkpoints().list()).isEmpty();
    }
  }

  @Test
  void aReadThatThrowsNeverKeepsItsSessionFromClosing() {
    try (FasterStore store = open()) {
      LongSession<Void> session =
          store.newSession().mode(SessionMode.PENDING).longs(LongFunctions.sum());
      fill(session);
      device.setScript(
          new ScriptedDevice.Script() {
            @Override
            public void beforeRead(long address, long bytes) {
              throw thrown;
            }
          });
      assertThatThrownBy(
              () -> {
                assertThat(session.read(0, null)).isEqualTo(Status.PENDING);
                session.completePending(true);
              })
          .hasRootCause(thrown);
      device.setScript(ScriptedDevice.Script.NONE);
      session.upsert(KEYS + 1, 1, null);
      assertThat(session.read(0, null)).isEqualTo(Status.PENDING);
      assertThat(session.completePending(true)).isZero();
      session.close();
    }
  }

  private static void fill(LongSession<Void> session) {
    for (int key = 0; key < KEYS; key++) {
      session.upsert(key, key, null);
    }
  }
}
