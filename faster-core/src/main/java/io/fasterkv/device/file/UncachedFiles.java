package io.fasterkv.device.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Opens the files of a directory so that transfers bypass the system's page cache, for data that is
 * written once and not read again soon. Tries once whether the file system supports this; if not,
 * {@code open} returns null.
 */
public final class UncachedFiles {
  private final Path directory;
  private @Nullable Optional<OpenOption> option;

  /**
   * Prepares to open files; tries nothing yet.
   *
   * @param directory the directory of the files
   */
  public UncachedFiles(Path directory) {
    this.directory = directory;
  }

  /**
   * Tells whether a transfer through such a channel is possible.
   *
   * @param position position in the file, in bytes
   * @param memory the memory of the transfer
   * @return true if both are aligned, and the size is a multiple of the unit
   */
  public static boolean isAligned(long position, MemorySegment memory) {
    return DirectIo.isAligned(position, memory);
  }

  /**
   * Opens an existing file for reading and writing.
   *
   * @param file the file
   * @return the channel; null if the file system does not support it
   * @throws IOException if the file cannot be opened
   */
  public @Nullable FileChannel open(Path file) throws IOException {
    OpenOption found = option();
    return found == null ? null : DurableFiles.openExisting(file, found);
  }

  /**
   * Opens an existing file for reading; see {@link #open}.
   *
   * @param file the file
   * @return the file; null if the file system does not support it
   * @throws IOException if the file cannot be opened
   */
  public @Nullable ReopeningFile openReopening(Path file) throws IOException {
    OpenOption found = option();
    return found == null
        ? null
        : new ReopeningFile(() -> FileChannel.open(file, StandardOpenOption.READ, found));
  }

  private synchronized @Nullable OpenOption option() {
    if (option == null) {
      option = tried();
    }
    return option.orElse(null);
  }

  private Optional<OpenOption> tried() {
    try {
      return Optional.of(DirectIo.tried(directory));
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
