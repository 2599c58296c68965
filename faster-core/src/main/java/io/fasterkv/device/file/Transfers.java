package io.fasterkv.device.file;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Transfers whole ranges between memory and a file, in requests so small that no system shortens
 * them silently.
 */
public final class Transfers {
  /** Linux moves at most 2 GiB less a page per request and reports success; this is far below. */
  private static final int MAX_REQUEST_BYTES = 64 << 20;

  private Transfers() {}

  /**
   * Writes bytes to a file.
   *
   * @param file the file
   * @param source the bytes; all are written
   * @param position where to write in the file, in bytes
   * @throws IOException if the write fails
   */
  public static void writeFully(FileChannel file, MemorySegment source, long position)
      throws IOException {
    long done = 0;
    while (done < source.byteSize()) {
      int written = file.write(request(source, done), position + done);
      if (written <= 0) {
        throw new IOException("the file took no bytes: position=" + (position + done));
      }
      done += written;
    }
  }

  /**
   * Reads bytes from a file; the end of the file within the range is an error.
   *
   * @param file the file
   * @param target filled completely
   * @param position where to read in the file, in bytes
   * @throws IOException if the read fails
   */
  public static void readFully(FileChannel file, MemorySegment target, long position)
      throws IOException {
    long done = 0;
    while (done < target.byteSize()) {
      int read = file.read(request(target, done), position + done);
      if (read <= 0) {
        throw new EOFException("the file ends early: position=" + (position + done));
      }
      done += read;
    }
  }

  private static ByteBuffer request(MemorySegment memory, long from) {
    long bytes = Math.min(MAX_REQUEST_BYTES, memory.byteSize() - from);
    return memory.asSlice(from, bytes).asByteBuffer();
  }
}
