package io.fasterkv.device.ring;

import static org.junit.jupiter.api.Assumptions.abort;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.FileDevice;
import java.io.IOException;
import java.nio.file.Path;

class DirectUringDeviceTest extends UringDeviceTest {
  @Override
  protected LogDevice device(Path directory, long segmentBytes) {
    try {
      return uring(FileDevice.direct(directory, segmentBytes), 2);
    } catch (IOException e) {
      return abort("no direct I/O in " + directory + ": " + e.getMessage());
    }
  }
}
