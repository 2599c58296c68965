package io.fasterkv.flink.backend;

import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.snapshot.OwnerOnly;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.util.FileUtils;
import org.jspecify.annotations.Nullable;

/**
 * The local directory of one store, {@code faster-<operator>-<id>}. A file in it is locked for the
 * lifetime of the process. A process that gets the lock therefore knows that the owner is dead,
 * however it died, and removes the directory.
 *
 * <p>Process numbers mean nothing where containers share a volume. A lock means nothing to another
 * machine, or through another mount that keeps its own locks. So the file's name says where the
 * lock counts: {@code owner-<boot>-<device>-<process>}, with the id that the kernel chose when it
 * started, the number of the mounted file system, and an id of the process. Only directories with
 * the same boot and device are examined, and never those of the own process: when a process closes
 * a file, the system releases all of the process's locks on that file.
 */
final class LocalDirectory implements AutoCloseable {
  private static final String PREFIX = "faster-";
  private static final String OWNER = "owner-";
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  private final Path path;
  private final Logger logger;

  /** Holds the lock; null if locks are not available. */
  private final @Nullable FileChannel owner;

  private LocalDirectory(Path path, @Nullable FileChannel owner, Logger logger) {
    this.path = path;
    this.logger = logger;
    this.owner = owner;
  }

  /** Creates a directory below {@code parent}. */
  static LocalDirectory create(Path parent, String operator, Logger logger) throws IOException {
    String name = operator.replaceAll("[^a-zA-Z0-9-]", "_");
    Path path = parent.resolve(PREFIX + name + "-" + UUID.randomUUID());
    try {
      Files.createDirectories(parent);
      OwnerOnly.createDirectory(path);
    } catch (IOException e) {
      throw new IOException(
          "cannot create a local directory for a store: directory="
              + path
              + "; let the TaskManager write there, or name other directories in "
              + FasterOptions.LOCAL_DIRECTORIES.key()
              + " or "
              + CoreOptions.TMP_DIRS.key(),
          e);
    }
    try {
      return new LocalDirectory(path, own(path, logger), logger);
    } catch (IOException | RuntimeException | Error e) {
      FileUtils.deleteDirectoryQuietly(path.toFile());
      throw e;
    }
  }

  /**
   * The file gets its name after it is locked, so other processes never see it unlocked while the
   * owner lives.
   */
  private static @Nullable FileChannel own(Path directory, Logger logger) throws IOException {
    String place = place(directory);
    if (place == null) {
      return null;
    }
    Path unlocked = directory.resolve("unlocked");
    FileChannel channel = OwnerOnly.createFile(unlocked);
    try {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        Path owned = directory.resolve(OWNER + place + "-" + process());
        Files.move(unlocked, owned, StandardCopyOption.ATOMIC_MOVE);
        return channel;
      }
    } catch (IOException noLocks) {
      logger.log(
          Level.DEBUG, "the file system does not support locks: directory=" + directory, noLocks);
    }
    channel.close();
    return null;
  }

  /** Where a lock counts; null if unknown. */
  private static @Nullable String place(Path directory) {
    try {
      String boot = Files.readString(BOOT_ID).strip();
      return boot + "-" + Files.getAttribute(directory, "unix:dev");
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
      return null;
    }
  }

  /** An id of this process, the same for all class loaders. */
  private static String process() {
    return (String)
        System.getProperties()
            .computeIfAbsent("io.fasterkv.flink.process", key -> UUID.randomUUID().toString());
  }

  /** Removes the directories below {@code parent} whose processes are dead. */
  static void removeDead(Path parent, Logger logger) {
    try {
      for (Path directory : children(parent, PREFIX)) {
        List<Path> owners = children(directory, OWNER);
        if (!owners.isEmpty() && isElsewhere(directory, owners.getFirst())) {
          removeIfDead(directory, owners.getFirst(), logger);
        }
      }
    } catch (IOException e) {
      logger.log(
          Level.WARNING, "directories of ended processes cannot be listed: directory=" + parent, e);
    }
  }

  /** The children whose name has this prefix; none if the directory no longer exists. */
  static List<Path> children(Path directory, String prefix) throws IOException {
    try (Stream<Path> children = Files.list(directory)) {
      return children.filter(child -> child.getFileName().toString().startsWith(prefix)).toList();
    } catch (NoSuchFileException | NotDirectoryException alreadyDeleted) {
      return List.of();
    }
  }

  /** Whether the owner is another process whose lock counts here. */
  private static boolean isElsewhere(Path directory, Path owner) {
    String name = owner.getFileName().toString();
    String place = place(directory);
    return place != null && name.startsWith(OWNER + place + "-") && !name.endsWith(process());
  }

  private static void removeIfDead(Path directory, Path owner, Logger logger) {
    try (FileChannel channel = FileChannel.open(owner, StandardOpenOption.WRITE);
        @Nullable FileLock lock = channel.tryLock()) {
      if (lock != null) {
        delete(directory);
        logger.log(Level.INFO, "deleted the directory of an ended process: directory=" + directory);
      }
    } catch (NoSuchFileException | OverlappingFileLockException inUse) {
      logger.log(
          Level.DEBUG,
          "another store deletes the directory of an ended process: directory=" + directory);
    } catch (IOException e) {
      logger.log(
          Level.WARNING,
          "the directory of an ended process cannot be deleted: directory=" + directory,
          e);
    }
  }

  /** Deletes the owner's file last: if the process dies halfway, the rest is removed later. */
  private static void delete(Path directory) throws IOException {
    for (Path child : children(directory, "")) {
      if (!child.getFileName().toString().startsWith(OWNER)) {
        FileUtils.deleteFileOrDirectory(child.toFile());
      }
    }
    FileUtils.deleteDirectory(directory.toFile());
  }

  Path path() {
    return path;
  }

  /** Deletes the directory. */
  @Override
  public void close() {
    try (@Nullable FileChannel last = owner) {
      delete(path);
    } catch (IOException cause) {
      logger.log(Level.WARNING, "a local directory cannot be deleted: directory=" + path, cause);
    }
  }
}
