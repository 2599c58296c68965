package io.fasterkv.device;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file that is there, to be read. Safe for all threads: who finds it closed, by an interrupt of
 * any of them, opens it again ({@link Uninterrupted}).
 */
public final class SteadyFile implements AutoCloseable {
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

  SteadyFile(Opener opener) throws IOException {
    this.opener = opener;
    channel = opener.open();
  }

  /** Opens a file. */
  public static SteadyFile open(Path file) throws IOException {
    return new SteadyFile(() -> FileChannel.open(file, StandardOpenOption.READ));
  }

  /** How many bytes it has. */
  public long size() throws IOException {
    long[] size = new long[1];
    use(file -> size[0] = file.size());
    return size[0];
  }

  /** Fills all of {@code target} from {@code position} on; the end of the file is an error. */
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
