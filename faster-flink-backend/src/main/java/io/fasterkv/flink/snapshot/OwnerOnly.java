package io.fasterkv.flink.snapshot;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Creates local files and directories of state that only their owner can read, where the file
 * system has POSIX permissions.
 */
public final class OwnerOnly {
  private static final Set<OpenOption> CREATE =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  private static final FileAttribute<?>[] FILE = permissions("rw-------");
  private static final FileAttribute<?>[] DIRECTORY = permissions("rwx------");

  private OwnerOnly() {}

  /** Creates a directory; its parent must exist. */
  public static void createDirectory(Path directory) throws IOException {
    Files.createDirectory(directory, DIRECTORY);
  }

  /** Creates a file that does not exist yet, and opens it for writing. */
  public static FileChannel createFile(Path file) throws IOException {
    return FileChannel.open(file, CREATE, FILE);
  }

  private static FileAttribute<?>[] permissions(String text) {
    boolean isPosix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    return isPosix
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text))
        }
        : new FileAttribute<?>[0];
  }
}
