package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.IoKind;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.ring.UringDevice;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a requested and available device is used, and that others fall back or are refused.
 */
class LogDevicesTest {
  private static final Path FOREIGN = new SimulatedDisk().directory();

  /** For 64 sessions, with two pages of kernel memory each. */
  private static final long RINGS_BYTES = 64 * 8192;

  @TempDir Path directory;

  private static LogDevice open(Path directory, IoKind kind, boolean direct) {
    return FasterStore.deviceFor(
        StoreConfig.builder(directory).ioKind(kind).directIo(direct).build());
  }

  @Test
  void filesWhereFilesAreAskedFor() throws IOException {
    try (LogDevice device = open(directory, IoKind.FILE, false)) {
      assertThat(device).isInstanceOf(FileDevice.class);
      assertThat(device.readUnitBytes()).isEqualTo(1);
      assertThat(device.memoryBytes()).isZero();
    }
  }

  @Test
  void filesAreMappedUnlessThatIsNotWanted() throws IOException {
    assertThat(readsMemory(true)).isTrue();
    assertThat(readsMemory(false)).isFalse();
  }

  /** Skips the test if the kernel refuses; the build grants native access. */
  private void skipWithoutRings() throws IOException {
    FileDevice files = new FileDevice(directory, 1 << 20);
    try {
      UringDevice.over(files, 1, System.getLogger("test")).close();
    } catch (IOException e) {
      files.close();
      assertThat(e).hasMessageNotContaining("native access");
      abort("no io_uring here: " + e.getMessage());
    }
  }

  private boolean readsMemory(boolean wanted) throws IOException {
    try (LogDevice device =
        FasterStore.deviceFor(StoreConfig.builder(directory).mappedReads(wanted).build())) {
      return device.readsMemory(0);
    }
  }

  @Test
  void ringsWhereTheyCanBeHad() throws IOException {
    skipWithoutRings();
    for (IoKind kind : new IoKind[] {IoKind.AUTO, IoKind.URING}) {
      try (LogDevice device = open(directory, kind, false)) {
        assertThat(device).isInstanceOf(UringDevice.class);
        assertThat(device.memoryBytes()).isEqualTo(RINGS_BYTES);
      }
    }
    StoreConfig config = StoreConfig.builder(directory).build();
    assertThat(config.ringBytes()).isEqualTo(RINGS_BYTES);
  }

  @Test
  void aStoreWorksOnADeviceOnTopOfItsOwn() {
    StoreConfig config =
        StoreConfig.builder(directory).memoryBytes(1 << 20).recordKind(RecordKind.LONGS).build();
    LogDevice own = FasterStore.deviceFor(config);
    Set<String> calls = ConcurrentHashMap.newKeySet();
    LogDevice onTop =
        (LogDevice)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {LogDevice.class},
                (proxy, method, arguments) -> {
                  calls.add(method.getName());
                  return method.invoke(own, arguments);
                });
    try (FasterStore store = FasterStore.open(config, onTop);
        LongSession<Void> session = store.newSession().longs(LongFunctions.sum())) {
      session.upsert(1, 2, null);
      store.checkpoints().take();
    }
    assertThat(calls).contains("write", "force", "close");
  }

  @Test
  void filesAreGoodEnoughUnlessRingsAreDemanded() throws IOException {
    try (LogDevice device = open(FOREIGN, IoKind.AUTO, true)) {
      assertThat(device).isInstanceOf(FileDevice.class);
      assertThat(device.readUnitBytes()).as("not past the page cache").isEqualTo(1);
    }
    assertThatThrownBy(() -> open(FOREIGN, IoKind.URING, false))
        .isInstanceOf(BadConfig.class)
        .hasMessageContaining("ioKind=URING, allowed=FILE or AUTO")
        .hasMessageContaining("not the system's own");
  }
}
