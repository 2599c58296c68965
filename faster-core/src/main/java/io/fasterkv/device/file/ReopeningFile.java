package io.fasterkv.device.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * An existing file that is open for reading. Safe for all threads: if an interrupt of one of them
 * closes the file, it is opened again ({@link Uninterrupted}).
 */
public final class ReopeningFile implements AutoCloseable {
  private final Opener opener;
  private FileChannel channel;
  private boolean isClosed;

  /** Opens the file, each time in the same way. */
  interface Opener {
    FileChannel open() throws IOException;
  }

  private interface Use {
    void of(FileChannel file) throws IOException;
  }

  ReopeningFile(Opener opener) throws IOException {
    this.opener = opener;
    channel = opener.open();
  }

  /**
   * Opens a file.
   *
   * @param file an existing file
   * @return the open file
   * @throws IOException if it cannot be opened
   */
  public static ReopeningFile open(Path file) throws IOException {
    return new ReopeningFile(() -> FileChannel.open(file, StandardOpenOption.READ));
  }

  /**
   * Returns the size of the file.
   *
   * @return the size in bytes
   * @throws IOException if it cannot be determined
   */
  public long size() throws IOException {
    long[] size = new long[1];
    use(file -> size[0] = file.size());
    return size[0];
  }

  /**
   * Reads bytes; the end of the file within the range is an error.
   *
   * @param target filled completely
   * @param position where to read in the file, in bytes
   * @throws IOException if the read fails
   */
  public void readFully(MemorySegment target, long position) throws IOException {
    use(file -> Transfers.readFully(file, target, position));
  }

  private void use(Use use) throws IOException {
    Uninterrupted.run(() -> use.of(opened()));
  }

  private synchronized FileChannel opened() throws IOException {
    if (isClosed) {
      throw new IOException("the file is closed");
    }
    if (!channel.isOpen()) {
      channel = opener.open();
    }
    return channel;
  }

  @Override
  public synchronized void close() throws IOException {
    isClosed = true;
    channel.close();
  }
}
