package io.fasterkv.bench.slow;

import java.io.IOException;
import java.net.URI;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;

/**
 * Local files with the delays of remote storage: opening or creating a file takes {@link
 * #OPEN_MILLIS}, and each stream moves {@link #BYTES_PER_SECOND} at most, as a connection to an
 * object store does. Streams do not slow each other down. Calls without a stream take no time.
 */
public final class SlowFileSystem extends LocalFileSystem {
  /** The scheme of paths: {@code slow:/an/absolute/path}. */
  public static final String SCHEME = "slow";

  /** The delay until the first byte of a file can be read or written. */
  public static final int OPEN_MILLIS = 30;

  /** The bandwidth of one stream. */
  public static final long BYTES_PER_SECOND = 40_000_000;

  /** The traffic of all streams of this JVM. */
  private static final Traffic TRAFFIC = new Traffic();

  /** Counts the streams and bytes of this JVM. */
  public static Traffic traffic() {
    return TRAFFIC;
  }

  /** Returns the name of a local file in this file system. */
  public static Path path(java.nio.file.Path local) {
    return new Path(SCHEME + ":" + local.toAbsolutePath());
  }

  @Override
  public URI getUri() {
    return URI.create(SCHEME + ":///");
  }

  @Override
  public FSDataInputStream open(Path file, int bufferSize) throws IOException {
    return open(file);
  }

  @Override
  public FSDataInputStream open(Path file) throws IOException {
    Pace pace = Pace.opened();
    return new SlowInput(super.open(file), pace, TRAFFIC);
  }

  @Override
  public FSDataOutputStream create(Path file, WriteMode mode) throws IOException {
    Pace pace = Pace.opened();
    return new SlowOutput(super.create(file, mode), pace, TRAFFIC);
  }

  @Override
  public boolean isDistributedFS() {
    return true;
  }
}
