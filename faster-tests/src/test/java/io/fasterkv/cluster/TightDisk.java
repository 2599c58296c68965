package io.fasterkv.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;

/** A small file system in memory, mounted for a test, that can be filled to the last byte. */
final class TightDisk implements AutoCloseable {
  private static final String FILLER = "filler";
  private static final long PATIENCE_SECONDS = 30;

  private final Path directory;

  private TightDisk(Path directory) {
    this.directory = directory;
  }

  /**
   * Mounts a file system.
   *
   * @throws IOException if the system does not let this process mount file systems
   */
  static TightDisk mount(Path directory, int megabytes) throws IOException, InterruptedException {
    Files.createDirectories(directory);
    run("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", directory.toString());
    return new TightDisk(directory);
  }

  /** Takes all free space. It may be called again after space was freed. */
  void fill() throws IOException {
    byte[] block = new byte[1 << 16];
    int size = block.length;
    try (OutputStream filler =
        Files.newOutputStream(
            directory.resolve(FILLER), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      while (size > 0) {
        try {
          filler.write(block, 0, size);
        } catch (IOException full) {
          size /= 2;
        }
      }
    }
  }

  /** Frees the space that {@link #fill} took. */
  void free() throws IOException {
    Files.deleteIfExists(directory.resolve(FILLER));
  }

  /** Unmounts any file system that a killed test process left at {@code directory}. */
  static void unmount(Path directory) throws IOException, InterruptedException {
    while (Files.exists(directory)
        && !Files.getFileStore(directory).equals(Files.getFileStore(directory.getParent()))) {
      run("umount", "-l", directory.toString());
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    run("umount", "-l", directory.toString());
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IOException("failed: " + String.join(" ", command) + ": " + output);
    }
  }
}
