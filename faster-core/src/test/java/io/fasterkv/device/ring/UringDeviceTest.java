package io.fasterkv.device.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.ReadQueue;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.file.SegmentDeviceContract;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Tests transfers through the page cache; {@link DirectUringDeviceTest} bypasses it. */
class UringDeviceTest extends SegmentDeviceContract {
  private static final int RINGS = 2;

  @Override
  protected LogDevice device(Path directory, long segmentBytes) {
    return uring(new FileDevice(directory, segmentBytes), RINGS);
  }

  /** Skips the test if the kernel refuses io_uring; the build grants native access. */
  static UringDevice uring(FileDevice files, int rings) {
    try {
      return UringDevice.over(files, rings, System.getLogger("test"));
    } catch (IOException e) {
      assertThat(e).hasMessageNotContaining("native access");
      return abort("no io_uring here: " + e.getMessage());
    }
  }

  @Test
  void queuesBeyondTheRingsUseThreads() {
    ReadQueue first = device.readQueue(8);
    ReadQueue second = device.readQueue(8);
    assertThat(first).isInstanceOf(RingReads.class);
    assertThat(second).isInstanceOf(RingReads.class);
    assertThat(device.readQueue(8)).isNotInstanceOf(RingReads.class);
    first.close();
    assertThat(device.readQueue(8)).isInstanceOf(RingReads.class);
    assertThat(device.memoryBytes()).isEqualTo(RINGS * Ring.BYTES);
  }
}
