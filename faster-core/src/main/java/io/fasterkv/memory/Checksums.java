package io.fasterkv.memory;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/** CRC32C of memory. */
public final class Checksums {
  private static final long MAX_STEP_BYTES = 1 << 30;

  private Checksums() {}

  public static int crc32c(MemorySegment memory) {
    CRC32C crc = new CRC32C();
    for (long at = 0; at < memory.byteSize(); at += MAX_STEP_BYTES) {
      long step = Math.min(MAX_STEP_BYTES, memory.byteSize() - at);
      crc.update(memory.asSlice(at, step).asByteBuffer());
    }
    return (int) crc.getValue();
  }
}
