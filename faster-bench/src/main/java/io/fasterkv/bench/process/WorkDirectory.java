package io.fasterkv.bench.process;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The directory of one run below the directory that the user chose.
 *
 * <p>A live run holds a lock on a file in its directory. The operating system releases the lock
 * when the process dies, however it dies. A later run that gets the lock knows that the earlier one
 * is dead, and removes its directory. Directories that are not laid out like a run are never
 * touched, nor are those of runs that ended well and were told to keep theirs.
 */
public final class WorkDirectory implements AutoCloseable {
  private static final String LOCK = "run.lock";
  private static final String KEPT = "run.kept";
  private static final Pattern RUN = Pattern.compile("run-\\d+-\\d+");
  private static final int DELETE_ATTEMPTS = 20;
  private static final long DELETE_PAUSE_MILLIS = 100;

  private final Path path;
  private final FileChannel channel;
  private final int removed;

  private WorkDirectory(Path path, FileChannel channel, int removed) {
    this.path = path;
    this.channel = channel;
    this.removed = removed;
  }

  /** Removes what dead runs left in {@code parent} and creates a directory for this run. */
  public static WorkDirectory create(Path parent) throws IOException {
    Files.createDirectories(parent);
    // One run starts at a time: a directory without its lock yet must not look like a dead run's.
    try (FileChannel starters = openLockFile(parent.resolve("start.lock"));
        FileLock starting = starters.lock()) {
      int removed = removeDeadRuns(parent);
      Path path =
          parent
              .resolve("run-" + ProcessHandle.current().pid() + "-" + System.nanoTime())
              .toAbsolutePath();
      Files.createDirectory(path);
      FileChannel channel = openLockFile(path.resolve(LOCK));
      if (!starting.isValid() || channel.tryLock() == null) {
        throw new IOException("the run's lock is taken: file=" + path.resolve(LOCK));
      }
      return new WorkDirectory(path, channel, removed);
    }
  }

  /** Returns the run's own directory, absolute. */
  public Path path() {
    return path;
  }

  /** Returns how many dead runs were removed when this one began, 0 or more. */
  public int removedRuns() {
    return removed;
  }

  /** Creates and returns a directory of the given name in the run's directory. */
  public Path directory(String name) throws IOException {
    return Files.createDirectories(path.resolve(name));
  }

  /** Bytes of the files below a directory, which others may be deleting; 0 if it does not exist. */
  public static long bytesBelow(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return 0;
    }
    Sizes sizes = new Sizes();
    Files.walkFileTree(directory, sizes);
    return sizes.bytes;
  }

  /** Deletes the directory and everything in it. */
  public void delete() throws IOException {
    channel.close();
    deleteTree(path);
  }

  /** Deletes one of the run's directories before the run has ended. */
  public void delete(Path part) throws IOException {
    if (!part.startsWith(path) || part.equals(path)) {
      throw new IllegalArgumentException(
          "not in the run's directory: part=" + part + ", allowed=below " + path);
    }
    deleteTree(part);
  }

  /** Makes later runs leave the directory alone. */
  public void keep() throws IOException {
    Files.writeString(path.resolve(KEPT), "");
  }

  /** Leaves the directory to the next run. */
  @Override
  public void close() throws IOException {
    channel.close();
  }

  private static FileChannel openLockFile(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }

  private static int removeDeadRuns(Path parent) throws IOException {
    List<Path> runs;
    try (Stream<Path> entries = Files.list(parent)) {
      runs = entries.filter(WorkDirectory::isUnkeptRun).toList();
    }
    int removed = 0;
    for (Path run : runs) {
      if (isDead(run)) {
        deleteTree(run);
        removed++;
      }
    }
    return removed;
  }

  private static boolean isUnkeptRun(Path path) {
    return RUN.matcher(String.valueOf(path.getFileName())).matches()
        && Files.isRegularFile(path.resolve(LOCK))
        && !Files.exists(path.resolve(KEPT));
  }

  private static boolean isDead(Path run) throws IOException {
    try (FileChannel channel = FileChannel.open(run.resolve(LOCK), StandardOpenOption.WRITE);
        @Nullable FileLock lock = channel.tryLock()) {
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false; // a run of this very process
    } catch (NoSuchFileException e) {
      return false; // its owner has just removed it
    }
  }

  /** Deletes the lock file last; retries for a thread that still writes while it ends. */
  private static void deleteTree(Path tree) throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        Files.walkFileTree(tree, new Deleter(tree));
        return;
      } catch (IOException e) {
        if (attempt == DELETE_ATTEMPTS) {
          throw e;
        }
        pause();
      }
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(DELETE_PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while deleting", e);
    }
  }

  private static final class Sizes extends SimpleFileVisitor<Path> {
    long bytes;

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      bytes += attributes.size();
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
      return ignoreGone(failure);
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
        throws IOException {
      return failure == null ? FileVisitResult.CONTINUE : ignoreGone(failure);
    }
  }

  private static FileVisitResult ignoreGone(IOException failure) throws IOException {
    if (failure instanceof NoSuchFileException) {
      return FileVisitResult.CONTINUE;
    }
    throw failure;
  }

  private static final class Deleter extends SimpleFileVisitor<Path> {
    private final Path tree;

    Deleter(Path tree) {
      this.tree = tree;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      if (!file.equals(tree.resolve(LOCK))) {
        Files.deleteIfExists(file);
      }
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
      return ignoreGone(failure);
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
        throws IOException {
      if (directory.equals(tree)) {
        Files.deleteIfExists(tree.resolve(LOCK));
      }
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }
  }
}
