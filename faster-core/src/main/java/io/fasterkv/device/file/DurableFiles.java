package io.fasterkv.device.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Creates files that only their owner can read, with steps that survive a power failure and an
 * interrupt.
 */
public final class DurableFiles {
  private static final FileAttribute<?> OWNER_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<?> OWNER_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private DurableFiles() {}

  /**
   * Opens a file for reading and writing, and creates it if it is missing.
   *
   * @param path the file
   * @param more further options
   * @return the open file
   * @throws IOException if the file cannot be opened
   */
  public static FileChannel openReadWrite(Path path, OpenOption... more) throws IOException {
    Set<OpenOption> options = readWrite(more);
    options.add(StandardOpenOption.CREATE);
    return isPosix(path)
        ? FileChannel.open(path, options, OWNER_FILE)
        : FileChannel.open(path, options);
  }

  /** Opens an existing file for reading and writing. */
  static FileChannel openExisting(Path path, OpenOption... more) throws IOException {
    return FileChannel.open(path, readWrite(more));
  }

  private static Set<OpenOption> readWrite(OpenOption... more) {
    Set<OpenOption> options = new HashSet<>(List.of(more));
    options.add(StandardOpenOption.READ);
    options.add(StandardOpenOption.WRITE);
    return options;
  }

  /**
   * Creates a directory and its missing parents.
   *
   * @param directory the directory
   * @throws IOException if it cannot be created
   */
  public static void createDirectories(Path directory) throws IOException {
    if (isPosix(directory)) {
      Files.createDirectories(directory, OWNER_DIRECTORY);
    } else {
      Files.createDirectories(directory);
    }
  }

  /**
   * Moves a finished, forced file to its final name. Afterwards that name refers to the whole file
   * or, if this failed, to nothing new.
   *
   * @param from the finished file
   * @param to the final name
   * @throws IOException if the move fails
   */
  public static void moveIntoPlace(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    Path directory = to.toAbsolutePath().getParent();
    if (directory != null) {
      forceDirectory(directory);
    }
  }

  /**
   * Makes the names in a directory durable.
   *
   * @param directory the directory
   * @throws IOException if that fails
   */
  public static void forceDirectory(Path directory) throws IOException {
    if (isPosix(directory)) {
      Uninterrupted.run(() -> {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
          channel.force(true);
        }
      });
    }
  }

  /** Makes the content of a file durable, including writes of other threads. */
  static void force(Path file) throws IOException {
    Uninterrupted.run(() -> {
      try (FileChannel channel = openExisting(file)) {
        channel.force(true);
      }
    });
  }

  /**
   * Creates a file, or replaces an existing one. Its content is durable, its name is not; see
   * {@link #forceDirectory}.
   *
   * @param file the file
   * @param bytes its content
   * @throws IOException if the file cannot be written
   */
  public static void write(Path file, MemorySegment bytes) throws IOException {
    Uninterrupted.run(() -> {
      Files.deleteIfExists(file);
      try (FileChannel channel = openReadWrite(file)) {
        Transfers.writeFully(channel, bytes, 0);
        channel.force(true);
      }
    });
  }

  private static boolean isPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }
}
