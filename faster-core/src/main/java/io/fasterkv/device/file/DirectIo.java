package io.fasterkv.device.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Transfers that bypass the system's page cache. The option for them is in an optional module of
 * the JVM ({@code jdk.unsupported}), and a file system may refuse it. This class therefore looks it
 * up by name and tries it.
 */
public final class DirectIo {
  /** The address, size and memory of a direct transfer are multiples of this. */
  static final int UNIT_BYTES = 4096;

  private static final Optional<OpenOption> OPTION = findOption();

  private DirectIo() {}

  /** Whether a transfer can be direct; if not, it goes through the page cache. */
  public static boolean isAligned(long address, MemorySegment memory) {
    long together = address | memory.byteSize() | memory.address();
    return memory.isNative() && (together & (UNIT_BYTES - 1)) == 0;
  }

  /**
   * Tries the option on a file in {@code directory}, and returns it.
   *
   * @throws IOException with the reason why files there cannot be opened with it
   */
  static OpenOption tried(Path directory) throws IOException {
    OpenOption option =
        OPTION.orElseThrow(() -> new IOException("the JVM has no module jdk.unsupported"));
    if (!directory.getFileSystem().equals(FileSystems.getDefault())) {
      throw new IOException("the files are not the system's own");
    }
    long block = Files.getFileStore(directory).getBlockSize();
    if (UNIT_BYTES % block != 0) {
      throw new IOException(
          "the file system's blocks do not fit: blockBytes=" + block + ", allowed=512 to 4096");
    }
    Path trial = directory.resolve(".direct-io-trial");
    try (FileChannel file = DurableFiles.openReadWrite(trial, option)) {
      Transfers.writeFully(file, MemorySegment.ofArray(new byte[UNIT_BYTES]), 0);
    } catch (IOException | UnsupportedOperationException e) {
      throw new IOException("the file system refuses it: " + e.getMessage(), e);
    } finally {
      Files.deleteIfExists(trial);
    }
    return option;
  }

  private static Optional<OpenOption> findOption() {
    try {
      Class<?> options = Class.forName("com.sun.nio.file.ExtendedOpenOption");
      for (Object option : options.getEnumConstants()) {
        if (option.toString().equals("DIRECT")) {
          return Optional.of((OpenOption) option);
        }
      }
      return Optional.empty();
    } catch (ClassNotFoundException e) {
      return Optional.empty();
    }
  }
}
