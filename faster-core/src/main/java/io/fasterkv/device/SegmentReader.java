package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Reads the segment files of a log that no store has open, and changes nothing. One thread's. */
public final class SegmentReader implements AutoCloseable {
  private final Path directory;
  private final long segmentBytes;
  private @Nullable FileChannel open;
  private long openSegment;

  public SegmentReader(Path directory, long segmentBytes) {
    this.directory = directory;
    this.segmentBytes = segmentBytes;
  }

  /** Fills {@code target}, which is in one segment, from {@code address} on. */
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

  /** Names the place of an address for an error message. */
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
