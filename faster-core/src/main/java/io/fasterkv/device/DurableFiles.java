package io.fasterkv.device;

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

/** Files that only their owner can read, and steps that survive a power cut and an interrupt. */
public final class DurableFiles {
  private static final FileAttribute<?> OWNER_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<?> OWNER_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private DurableFiles() {}

  /** Opens a file for reading and writing, creating it when missing. */
  public static FileChannel openReadWrite(Path path, OpenOption... more) throws IOException {
    Set<OpenOption> options = readWrite(more);
    options.add(StandardOpenOption.CREATE);
    return isPosix(path)
        ? FileChannel.open(path, options, OWNER_FILE)
        : FileChannel.open(path, options);
  }

  /** Opens a file that is there for reading and writing. */
  static FileChannel openExisting(Path path, OpenOption... more) throws IOException {
    return FileChannel.open(path, readWrite(more));
  }

  private static Set<OpenOption> readWrite(OpenOption... more) {
    Set<OpenOption> options = new HashSet<>(List.of(more));
    options.add(StandardOpenOption.READ);
    options.add(StandardOpenOption.WRITE);
    return options;
  }

  /** Creates a directory and those above it. */
  public static void createDirectories(Path directory) throws IOException {
    if (isPosix(directory)) {
      Files.createDirectories(directory, OWNER_DIRECTORY);
    } else {
      Files.createDirectories(directory);
    }
  }

  /** Puts a finished, forced file in its place: after this it is there whole or not at all. */
  public static void moveIntoPlace(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    Path directory = to.toAbsolutePath().getParent();
    if (directory != null) {
      forceDirectory(directory);
    }
  }

  /** Makes the names in a directory durable. */
  public static void forceDirectory(Path directory) throws IOException {
    if (isPosix(directory)) {
      Uninterrupted.run(() -> {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
          channel.force(true);
        }
      });
    }
  }

  /** Makes what is in a file durable, whoever has written it. */
  static void force(Path file) throws IOException {
    Uninterrupted.run(() -> {
      try (FileChannel channel = openExisting(file)) {
        channel.force(true);
      }
    });
  }

  /** Makes a new file of some bytes, in place of one that is there; durable but for its name. */
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
