package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Opens the files of a directory past the system's page cache, for what is written once and not
 * read again soon. Whether it can is tried out once, and nothing is wrong if it cannot.
 */
public final class UncachedFiles {
  private final Path directory;
  private @Nullable Optional<OpenOption> option;

  public UncachedFiles(Path directory) {
    this.directory = directory;
  }

  /** Whether a transfer through such a channel is possible. */
  public static boolean isAligned(long position, MemorySegment memory) {
    return DirectIo.isAligned(position, memory);
  }

  /** A channel to a file that is there already; null if it cannot be opened so. */
  public @Nullable FileChannel open(Path file) throws IOException {
    OpenOption found = option();
    return found == null ? null : DurableFiles.openExisting(file, found);
  }

  /** As {@link #open}, for who reads. */
  public @Nullable SteadyFile openSteady(Path file) throws IOException {
    OpenOption found = option();
    return found == null
        ? null
        : new SteadyFile(() -> FileChannel.open(file, StandardOpenOption.READ, found));
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
