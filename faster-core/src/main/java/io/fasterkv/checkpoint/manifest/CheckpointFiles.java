package io.fasterkv.checkpoint.manifest;

import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.device.file.DurableFiles;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of checkpoint files in a store's directory. */
public final class CheckpointFiles {
  private static final Pattern MANIFEST = Pattern.compile("checkpoint-(\\d{1,18})\\.manifest");
  private static final Pattern INDEX = Pattern.compile("checkpoint-(\\d{1,18})\\.index");
  private static final Pattern SNAPSHOT = Pattern.compile("checkpoint-(\\d{1,18})\\.snapshot");

  private final Path directory;

  public CheckpointFiles(Path directory) {
    this.directory = directory;
  }

  public Path directory() {
    return directory;
  }

  public Path manifest(long number) {
    return directory.resolve("checkpoint-" + number + ".manifest");
  }

  /** Where a manifest is written before it is moved to its final name. */
  Path unfinishedManifest(long number) {
    return directory.resolve("checkpoint-" + number + ".manifest.tmp");
  }

  public Path index(long number) {
    return directory.resolve("checkpoint-" + number + ".index");
  }

  public Path snapshot(long number) {
    return directory.resolve("checkpoint-" + number + ".snapshot");
  }

  /** The numbers of all checkpoints that have a manifest. */
  public NavigableSet<Long> complete() {
    NavigableSet<Long> numbers = new TreeSet<>();
    if (Files.isDirectory(directory)) {
      for (Path path : matching(MANIFEST)) {
        numbers.add(number(MANIFEST, path));
      }
    }
    return numbers;
  }

  /** Removes the manifests of later checkpoints durably, newest first. */
  public void removeAfter(long number) throws IOException {
    NavigableSet<Long> later = complete().tailSet(number, false).descendingSet();
    if (later.isEmpty()) {
      return;
    }
    for (long one : later) {
      Files.delete(manifest(one));
    }
    // A power failure must not leave a manifest whose index is missing.
    DurableFiles.forceDirectory(directory);
  }

  /** Removes images and snapshots that no checkpoint needs. */
  public void sweep(LongPredicate needsIndex, LongPredicate needsSnapshot) throws IOException {
    for (Path path : matching(INDEX)) {
      if (!needsIndex.test(number(INDEX, path))) {
        Files.deleteIfExists(path);
      }
    }
    for (Path path : matching(SNAPSHOT)) {
      if (!needsSnapshot.test(number(SNAPSHOT, path))) {
        Files.deleteIfExists(path);
      }
    }
  }

  /** Removes the files of a checkpoint without a manifest; if that fails, a later sweep retries. */
  public void removeUnfinished(long number, Logger logger) {
    for (Path path : List.of(index(number), snapshot(number), unfinishedManifest(number))) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        logger.log(
            Level.DEBUG,
            "a file of a failed checkpoint cannot be deleted now; a later checkpoint retries: file="
                + path,
            e);
      }
    }
  }

  private List<Path> matching(Pattern name) {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory, "checkpoint-*")) {
      for (Path path : paths) {
        if (name.matcher(path.getFileName().toString()).matches()) {
          found.add(path);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      throw new Corrupt("the directory cannot be listed: directory=" + directory, e);
    }
    return found;
  }

  private static long number(Pattern name, Path path) {
    Matcher matcher = name.matcher(path.getFileName().toString());
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not the name of a checkpoint's file: " + path);
    }
    return Long.parseLong(matcher.group(1));
  }
}
