package io.fasterkv.memory;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Tells how much of a piece of native memory the system has given this process. */
public final class ResidentPages {
  private static final int PAGE_BYTES = 4096;

  /** It is in memory, and mapped once. */
  private static final long OWN = 1L << 63 | 1L << 56;

  private ResidentPages() {}

  /**
   * Bytes of the piece, whose begin is a page's, that take memory; nobody but threads that come to
   * an end by themselves touches it meanwhile.
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
      // What was only read is the kernel's one page of zeros, which is not this process's alone.
      present += (words.getLong(page * Long.BYTES) & OWN) == OWN ? 1 : 0;
    }
    return present * PAGE_BYTES;
  }
}
