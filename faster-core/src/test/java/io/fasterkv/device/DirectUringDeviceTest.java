package io.fasterkv.device;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Path;

class DirectUringDeviceTest extends UringDeviceTest {
  @Override
  LogDevice device(Path directory, long segmentBytes) {
    try {
      return uring(FileDevice.direct(directory, segmentBytes), 2);
    } catch (IOException e) {
      return abort("no direct I/O in " + directory + ": " + e.getMessage());
    }
  }
}
