package io.fasterkv.memory;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Determines how much of a block of native memory the system has committed for this process. */
public final class ResidentPages {
  private static final int PAGE_BYTES = 4096;

  /** The page is in memory, and is mapped once. */
  private static final long OWN = 1L << 63 | 1L << 56;

  private ResidentPages() {}

  /**
   * Committed bytes of a block that begins at a page boundary. Meanwhile, only threads that end by
   * themselves may touch the block.
   */
  public static long bytes(MemorySegment memory) throws IOException {
    long bytes = bytesNow(memory);
    for (long again = bytesNow(memory); again != bytes; again = bytesNow(memory)) {
      bytes = again;
    }
    return bytes;
  }

  private static long bytesNow(MemorySegment memory) throws IOException {
    int pages = Math.toIntExact(memory.byteSize() / PAGE_BYTES);
    byte[] entries = new byte[pages * Long.BYTES];
    try (RandomAccessFile map = new RandomAccessFile("/proc/self/pagemap", "r")) {
      map.seek(memory.address() / PAGE_BYTES * Long.BYTES);
      map.readFully(entries);
    }
    ByteBuffer words = ByteBuffer.wrap(entries).order(ByteOrder.nativeOrder());
    long present = 0;
    for (int page = 0; page < pages; page++) {
      // Memory that was only read is mapped to the kernel's shared page of zeros.
      present += (words.getLong(page * Long.BYTES) & OWN) == OWN ? 1 : 0;
    }
    return present * PAGE_BYTES;
  }
}
