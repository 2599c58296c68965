package io.fasterkv.device.file;

import io.fasterkv.device.LogDevice;
import java.nio.file.Path;

class FileDeviceTest extends SegmentDeviceContract {
  @Override
  protected LogDevice device(Path directory, long segmentBytes) {
    return new FileDevice(directory, segmentBytes);
  }
}
