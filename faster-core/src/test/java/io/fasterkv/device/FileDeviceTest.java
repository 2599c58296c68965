package io.fasterkv.device;

import java.nio.file.Path;

class FileDeviceTest extends SegmentDeviceContract {
  @Override
  LogDevice device(Path directory, long segmentBytes) {
    return new FileDevice(directory, segmentBytes);
  }
}
