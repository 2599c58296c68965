package io.fasterkv.device;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Makes the segment files of a log that no store has open. Safe for all threads. */
public final class SegmentWriter implements AutoCloseable {
  private final Path directory;
  private final long segmentBytes;
  private final SegmentFiles files;

  /**
   * @param directory is there
   */
  public SegmentWriter(Path directory, long segmentBytes) {
    this.directory = directory;
    this.segmentBytes = segmentBytes;
    files = new SegmentFiles(directory, segmentBytes);
  }

  /** Writes {@code source}, which is in one segment, to {@code address} and above. */
  public void write(long address, MemorySegment source) throws IOException {
    files.write(address, source);
  }

  /**
   * Takes over the segments of another log from {@code from} up to {@code until}, by second names
   * for their files if the file system can do that. The last one, which may go on, is copied if
   * {@code isWritten}.
   *
   * @param isWritten whether the log goes on here
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

  /** Makes durable what segments have that were made so, from {@code from} up to {@code until}. */
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
      // The file system cannot do that, or it is another one.
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

  /** Names the place of an address for an error message. */
  public String place(long address) {
    return files.place(address);
  }

  @Override
  public void close() throws IOException {
    files.close();
  }
}
