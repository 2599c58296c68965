package io.fasterkv.device.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fasterkv.device.LogDevice;
import io.fasterkv.sim.SimulatedDisk;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MappedFileDeviceTest extends SegmentDeviceContract {
  private static final long MOST_BYTES = 1 << 20;

  @Override
  protected LogDevice device(Path directory, long segmentBytes) {
    assumeThat(MappedPieces.isPossible(directory)).isTrue();
    return FileDevice.mapped(directory, segmentBytes, MOST_BYTES, MOST_BYTES);
  }

  @Test
  void filesThatAreNotTheSystemsOwnAreNotMapped() throws IOException {
    Path simulated = new SimulatedDisk().directory();
    assertThat(MappedPieces.isPossible(simulated)).isFalse();
    try (LogDevice device = FileDevice.mapped(simulated, 1 << 16, MOST_BYTES, MOST_BYTES)) {
      MemorySegment memory = MemorySegment.ofArray(new byte[8]);
      assertThatThrownBy(() -> device.readNow(0, memory)).isInstanceOf(NoSuchFileException.class);
    }
  }
}
