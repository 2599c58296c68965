package io.fasterkv.bench.cpr.rows;

import io.fasterkv.bench.process.Commands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Drops files from the system's page cache, so that the next read of them goes to the disk. Any
 * user can do this with GNU {@code dd}.
 */
final class PageCache {
  private PageCache() {}

  /** All files in a directory, ordered by name. */
  static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> entries = Files.walk(directory)) {
      return entries.filter(Files::isRegularFile).sorted().toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Drops all files of a directory; returns whether that succeeded. */
  static boolean forget(Path directory) throws IOException {
    for (Path file : files(directory)) {
      // Without a count dd would read; with 0 it drops the whole file.
      try {
        Commands.run(List.of("dd", "if=" + file, "iflag=nocache", "count=0"));
      } catch (IOException e) {
        return false; // there is no such dd
      }
    }
    return true;
  }
}
