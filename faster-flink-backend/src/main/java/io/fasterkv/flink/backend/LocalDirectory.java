package io.fasterkv.flink.backend;

import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.snapshot.OwnerOnly;
import java.io.IOException;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The local directory of one store, {@code faster-<operator>-<id>}. A file in it is locked for as
 * long as its process lives: who gets the lock knows that the process is dead, however it died, and
 * removes the directory.
 *
 * <p>Process numbers say nothing where containers share a volume, and a lock says nothing to
 * another machine, or through another mount that keeps locks for itself. So the file's name says
 * where the lock counts: {@code owner-<boot>-<device>-<process>}, with the id that the kernel has
 * given itself when it started, the number of the mounted file system, and an id of the process.
 * Only directories with the same boot and device are looked into, and none of the own process: the
 * system gives up all locks that a process has on a file as soon as it closes that file once.
 */
final class LocalDirectory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LocalDirectory.class);
  private static final String PREFIX = "faster-";
  private static final String OWNER = "owner-";
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  private final Path path;

  /** Holds the lock; null where there are none. */
  private final @Nullable FileChannel owner;

  private LocalDirectory(Path path, @Nullable FileChannel owner) {
    this.path = path;
    this.owner = owner;
  }

  /** Makes a directory below {@code parent}. */
  static LocalDirectory create(Path parent, String operator) throws IOException {
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
      return new LocalDirectory(path, own(path));
    } catch (IOException | RuntimeException | Error e) {
      FileUtils.deleteDirectoryQuietly(path.toFile());
      throw e;
    }
  }

  /** The file gets its name when it is locked: it is never seen otherwise while the owner lives. */
  private static @Nullable FileChannel own(Path directory) throws IOException {
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
      LOG.debug("a file system without locks: directory={}", directory, noLocks);
    }
    channel.close();
    return null;
  }

  /** Where a lock counts: null if that is not known. */
  private static @Nullable String place(Path directory) {
    try {
      String boot = Files.readString(BOOT_ID).strip();
      return boot + "-" + Files.getAttribute(directory, "unix:dev");
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
      return null;
    }
  }

  /** The same for all class loaders. */
  private static String process() {
    return (String)
        System.getProperties()
            .computeIfAbsent("io.fasterkv.flink.process", key -> UUID.randomUUID().toString());
  }

  /** Removes the directories below {@code parent} whose processes are dead. */
  static void removeDead(Path parent) {
    try {
      for (Path directory : children(parent, PREFIX)) {
        List<Path> owners = children(directory, OWNER);
        if (!owners.isEmpty() && isElsewhere(directory, owners.getFirst())) {
          removeIfDead(directory, owners.getFirst());
        }
      }
    } catch (IOException e) {
      LOG.warn("cannot look for what dead processes have left: directory={}", parent, e);
    }
  }

  /** Those whose name begins like this; none if there is no such directory any more. */
  static List<Path> children(Path directory, String prefix) throws IOException {
    try (Stream<Path> children = Files.list(directory)) {
      return children.filter(child -> child.getFileName().toString().startsWith(prefix)).toList();
    } catch (NoSuchFileException | NotDirectoryException gone) {
      return List.of();
    }
  }

  /** Whether the owner is another process, and its lock counts here. */
  private static boolean isElsewhere(Path directory, Path owner) {
    String name = owner.getFileName().toString();
    String place = place(directory);
    return place != null && name.startsWith(OWNER + place + "-") && !name.endsWith(process());
  }

  private static void removeIfDead(Path directory, Path owner) {
    try (FileChannel channel = FileChannel.open(owner, StandardOpenOption.WRITE);
        @Nullable FileLock lock = channel.tryLock()) {
      if (lock != null) {
        delete(directory);
        LOG.info("removed what a dead process has left: directory={}", directory);
      }
    } catch (NoSuchFileException | OverlappingFileLockException anotherIsAtIt) {
      LOG.debug("somebody else removes it: directory={}", directory);
    } catch (IOException e) {
      LOG.warn("cannot remove what a dead process has left: directory={}", directory, e);
    }
  }

  /** The owner's file goes last, so that what is left by a death on the way is removed later. */
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

  /** Deletes it. */
  @Override
  public void close() {
    try (@Nullable FileChannel last = owner) {
      delete(path);
    } catch (IOException cause) {
      LOG.warn("cannot delete a local directory: directory={}", path, cause);
    }
  }
}
