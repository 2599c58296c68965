package io.fasterkv.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreConfig.IoKind;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is asked for and can be had is what one gets; the rest falls back or is refused. */
class LogDevicesTest {
  private static final Path FOREIGN = new SimulatedDisk().directory();

  @TempDir Path directory;

  private static LogDevice open(Path directory, IoKind kind, boolean direct) {
    return LogDevices.open(StoreConfig.builder(directory).ioKind(kind).directIo(direct).build());
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

  private boolean readsMemory(boolean wanted) throws IOException {
    try (LogDevice device =
        LogDevices.open(StoreConfig.builder(directory).mappedReads(wanted).build())) {
      return device.readsMemory(0);
    }
  }

  @Test
  void ringsWhereTheyCanBeHad() throws IOException {
    UringDeviceTest.uring(new FileDevice(directory, 1 << 20), 1).close();
    for (IoKind kind : new IoKind[] {IoKind.AUTO, IoKind.URING}) {
      try (LogDevice device = open(directory, kind, false)) {
        assertThat(device).isInstanceOf(UringDevice.class);
        assertThat(device.memoryBytes()).isEqualTo(64 * StoreConfig.RING_BYTES);
      }
    }
    assertThat(StoreConfig.RING_BYTES).isEqualTo(Ring.BYTES);
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
