package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes the segment files of a log that no store has open. Safe for all threads. */
public final class SegmentWriter implements AutoCloseable {
  private final Path directory;
  private final SegmentFiles files;

  /**
   * @param directory is there
   */
  public SegmentWriter(Path directory, long segmentBytes) {
    this.directory = directory;
    files = new SegmentFiles(directory, segmentBytes);
  }

  /** Writes {@code source}, which is in one segment, to {@code address} and above. */
  public void write(long address, MemorySegment source) throws IOException {
    files.write(address, source);
  }

  /**
   * Makes a file a segment, by a second name for it if the file system can do that. Nobody writes
   * to it any more, neither there nor here.
   */
  public void link(Path file, long segment) throws IOException {
    Path target = directory.resolve(SegmentFiles.PREFIX + segment);
    try {
      Files.createLink(target, file);
    } catch (IOException | UnsupportedOperationException e) {
      Files.copy(file, target);
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
