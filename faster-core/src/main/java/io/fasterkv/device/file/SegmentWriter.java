package io.fasterkv.device.file;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Creates the segment files of a log that no store has open. Safe for all threads. */
public final class SegmentWriter implements AutoCloseable {
  private final Path directory;
  private final long segmentBytes;
  private final SegmentFiles files;

  /**
   * Prepares to write.
   *
   * @param directory an existing directory
   * @param segmentBytes size of a segment file, a power of two
   */
  public SegmentWriter(Path directory, long segmentBytes) {
    this.directory = directory;
    this.segmentBytes = segmentBytes;
    files = new SegmentFiles(directory, segmentBytes);
  }

  /**
   * Writes bytes of one segment.
   *
   * @param address where to write
   * @param source the bytes; they must not cross the end of the segment
   * @throws IOException if the write fails
   */
  public void write(long address, MemorySegment source) throws IOException {
    files.write(address, source);
  }

  /**
   * Takes over the segments of another log, by hard links if the file system supports them,
   * otherwise by copies. A last segment that is only partly in the range may still grow in the
   * other log. It is copied if this log grows too.
   *
   * @param other the directory of the other log
   * @param from the first address to take over
   * @param until the first address after the range
   * @param isWritten whether this log will be written to from {@code until} on
   * @throws IOException if a file cannot be taken over
   */
  public void take(Path other, long from, long until, boolean isWritten) throws IOException {
    for (long segment = from / segmentBytes; segment * segmentBytes < until; segment++) {
      Path source = other.resolve(SegmentFiles.PREFIX + segment);
      Path target = directory.resolve(SegmentFiles.PREFIX + segment);
      long bytes = until - segment * segmentBytes;
      if (bytes >= segmentBytes || !isWritten) {
        link(source, target);
      } else {
        copy(source, target, bytes);
      }
    }
  }

  /**
   * Makes the content of segments durable.
   *
   * @param directory the directory of the segment files
   * @param segmentBytes size of a segment file, a power of two
   * @param from the first address
   * @param until the first address after the range
   * @throws IOException if that fails
   */
  public static void force(Path directory, long segmentBytes, long from, long until)
      throws IOException {
    for (long segment = from / segmentBytes; segment * segmentBytes < until; segment++) {
      DurableFiles.force(directory.resolve(SegmentFiles.PREFIX + segment));
    }
  }

  private static void link(Path source, Path target) throws IOException {
    try {
      Files.createLink(target, source);
    } catch (NoSuchFileException missing) {
      throw missing;
    } catch (IOException | UnsupportedOperationException e) {
      // The file system does not support this, or the directories are on different ones.
      Files.copy(source, target);
    }
  }

  private static void copy(Path source, Path target, long bytes) throws IOException {
    try (FileChannel from = FileChannel.open(source, StandardOpenOption.READ);
        FileChannel to = DurableFiles.openReadWrite(target)) {
      for (long at = 0; at < bytes; ) {
        long count = from.transferTo(at, bytes - at, to);
        if (count <= 0) {
          throw new EOFException(
              "a segment ends too early: file=" + source + ", offset=" + at + ", bytes=" + bytes);
        }
        at += count;
      }
    }
  }

  /**
   * Describes where an address is stored, for error messages.
   *
   * @param address the address
   * @return the file and the offset
   */
  public String place(long address) {
    return files.place(address);
  }

  @Override
  public void close() throws IOException {
    files.close();
  }
}
