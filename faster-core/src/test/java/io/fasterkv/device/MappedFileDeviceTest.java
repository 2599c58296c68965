package io.fasterkv.device;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;

class MappedFileDeviceTest extends SegmentDeviceContract {
  private static final long MOST_BYTES = 1 << 20;

  @Override
  LogDevice device(Path directory, long segmentBytes) {
    assumeThat(MappedPieces.isPossible()).isTrue();
    return FileDevice.mapped(directory, segmentBytes, MOST_BYTES);
  }
}
