package io.fasterkv.bench.cpr;

import io.fasterkv.bench.process.Commands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Asks the system to forget what it has of files in memory, so that the next to read them goes to
 * the disk. Any user may, with the {@code dd} of GNU.
 */
final class PageCache {
  private PageCache() {}

  /** All files in a directory, in the order of their names. */
  static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> entries = Files.walk(directory)) {
      return entries.filter(Files::isRegularFile).sorted().toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Returns whether that was done for all files. */
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
