package io.fasterkv.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Through the page cache; {@link DirectUringDeviceTest} past it. */
class UringDeviceTest extends SegmentDeviceContract {
  private static final int RINGS = 2;

  @Override
  LogDevice device(Path directory, long segmentBytes) {
    return uring(new FileDevice(directory, segmentBytes), RINGS);
  }

  /** Skips the test where the kernel refuses; that native access is granted is the build's part. */
  static UringDevice uring(FileDevice files, int rings) {
    try {
      return UringDevice.over(files, rings);
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
    assertThat(device.readQueue(8)).isInstanceOf(CompletedReads.class);
    first.close();
    assertThat(device.readQueue(8)).isInstanceOf(RingReads.class);
    assertThat(device.memoryBytes()).isEqualTo(RINGS * Ring.BYTES);
  }
}
