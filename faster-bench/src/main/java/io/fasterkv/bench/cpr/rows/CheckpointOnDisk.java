package io.fasterkv.bench.cpr.rows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** The files of a directory at the time this was created: a checkpoint and nothing else. */
final class CheckpointOnDisk {
  private static final int READ_BYTES = 1 << 20;

  private final Path directory;
  private final List<Path> files;
  private boolean isForgotten = true;

  CheckpointOnDisk(Path directory) throws IOException {
    this.directory = directory;
    files = PageCache.files(directory);
  }

  long bytes() throws IOException {
    long bytes = 0;
    for (Path file : files) {
      bytes += Files.size(file);
    }
    return bytes;
  }

  /**
   * Removes what a recovery has written since, and makes the next reads of all files go to the
   * disk.
   */
  void reset() throws IOException {
    for (Path file : PageCache.files(directory)) {
      if (!files.contains(file)) {
        Files.delete(file);
      }
    }
    isForgotten &= PageCache.forget(directory);
  }

  /** Whether each {@link #reset} has done that. */
  boolean isForgotten() {
    return isForgotten;
  }

  /** Nanoseconds of the second of two sequential reads of all files. */
  long secondReading() throws IOException {
    reset();
    read();
    reset();
    return read();
  }

  private long read() throws IOException {
    long begin = System.nanoTime();
    ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);
    for (Path file : files) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        while (channel.read(buffer.clear()) > 0) {
          // Only read.
        }
      }
    }
    return System.nanoTime() - begin;
  }
}
