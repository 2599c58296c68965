package io.fasterkv.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** Computes CRC32C and CRC32 of memory. */
public final class Checksums {
  private static final long MAX_STEP_BYTES = 1 << 30;

  private Checksums() {}

  public static int crc32c(MemorySegment memory) {
    return finish(new CRC32C(), memory);
  }

  /** The CRC32C of two words, in the machine's byte order, and the bytes after them. */
  public static int crc32c(long first, long second, MemorySegment memory) {
    CRC32C crc = new CRC32C();
    ByteBuffer words = ByteBuffer.allocate(2 * Long.BYTES).order(ByteOrder.nativeOrder());
    crc.update(words.putLong(first).putLong(second).flip());
    return finish(crc, memory);
  }

  /** The CRC32, which uses a different polynomial. */
  public static int crc32(MemorySegment memory) {
    return finish(new CRC32(), memory);
  }

  private static int finish(Checksum crc, MemorySegment memory) {
    for (long at = 0; at < memory.byteSize(); at += MAX_STEP_BYTES) {
      long step = Math.min(MAX_STEP_BYTES, memory.byteSize() - at);
      crc.update(memory.asSlice(at, step).asByteBuffer());
    }
    return (int) crc.getValue();
  }
}
