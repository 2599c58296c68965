package io.fasterkv.device.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Reads the segment files of a log that no store has open, without changing them. For one thread.
 */
public final class SegmentReader implements AutoCloseable {
  private final Path directory;
  private final long segmentBytes;
  private @Nullable FileChannel open;
  private long openSegment;

  /**
   * Prepares to read; opens no file yet.
   *
   * @param directory the directory of the segment files
   * @param segmentBytes size of a segment file, a power of two
   */
  public SegmentReader(Path directory, long segmentBytes) {
    this.directory = directory;
    this.segmentBytes = segmentBytes;
  }

  /**
   * Reads bytes of one segment.
   *
   * @param address where to read
   * @param target filled completely; it must not cross the end of the segment
   * @throws IOException if the read fails
   */
  public void read(long address, MemorySegment target) throws IOException {
    long segment = address / segmentBytes;
    FileChannel file = open;
    if (file == null || openSegment != segment) {
      close();
      file = FileChannel.open(path(segment), StandardOpenOption.READ);
      open = file;
      openSegment = segment;
    }
    Transfers.readFully(file, target, address % segmentBytes);
  }

  /**
   * Describes where an address is stored, for error messages.
   *
   * @param address the address
   * @return the file and the offset
   */
  public String place(long address) {
    return "file=" + path(address / segmentBytes) + ", offset=" + address % segmentBytes;
  }

  private Path path(long segment) {
    return directory.resolve(SegmentFiles.PREFIX + segment);
  }

  @Override
  public void close() throws IOException {
    FileChannel file = open;
    open = null;
    if (file != null) {
      file.close();
    }
  }
}
