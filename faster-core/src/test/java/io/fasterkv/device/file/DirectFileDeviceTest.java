package io.fasterkv.device.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import io.fasterkv.device.LogDevice;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DirectFileDeviceTest extends SegmentDeviceContract {
  @Override
  protected LogDevice device(Path directory, long segmentBytes) {
    try {
      return FileDevice.direct(directory, segmentBytes);
    } catch (IOException e) {
      return abort("no direct I/O in " + directory + ": " + e.getMessage());
    }
  }

  @Test
  void theTrialLeavesNothing() {
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void saysWhyItIsRefused() {
    assertThatThrownBy(() -> FileDevice.direct(new SimulatedDisk().directory(), 4096))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the files are not the system's own");
  }
}
