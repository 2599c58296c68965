package io.fasterkv.checkpoint;

import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.device.DurableFiles;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of a checkpoint's files in a store's directory. */
final class CheckpointFiles {
  private static final Pattern MANIFEST = Pattern.compile("checkpoint-(\\d{1,18})\\.manifest");

  private final Path directory;

  CheckpointFiles(Path directory) {
    this.directory = directory;
  }

  Path directory() {
    return directory;
  }

  Path manifest(long number) {
    return directory.resolve("checkpoint-" + number + ".manifest");
  }

  /** Where a manifest is written before it is moved into place. */
  Path unfinishedManifest(long number) {
    return directory.resolve("checkpoint-" + number + ".manifest.tmp");
  }

  Path index(long number) {
    return directory.resolve("checkpoint-" + number + ".index");
  }

  /** The numbers of all checkpoints that have a manifest. */
  NavigableSet<Long> complete() {
    NavigableSet<Long> numbers = new TreeSet<>();
    if (!Files.isDirectory(directory)) {
      return numbers;
    }
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory, "*.manifest")) {
      for (Path path : paths) {
        Matcher name = MANIFEST.matcher(path.getFileName().toString());
        if (name.matches()) {
          numbers.add(Long.parseLong(name.group(1)));
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      throw new Corrupt("the directory cannot be listed: directory=" + directory, e);
    }
    return numbers;
  }

  /** Removes the checkpoints after one, newest first, manifests before what they refer to. */
  void removeAfter(CheckpointToken token) throws IOException {
    NavigableSet<Long> later = complete().tailSet(token.number(), false).descendingSet();
    if (later.isEmpty()) {
      return;
    }
    for (long number : later) {
      Files.delete(manifest(number));
    }
    // A power cut must not leave a manifest whose index is gone.
    DurableFiles.forceDirectory(directory);
    for (long number : later) {
      Files.deleteIfExists(index(number));
    }
  }
}
