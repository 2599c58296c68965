package io.fasterkv.bench.slow;

import java.net.URI;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;

/** Makes Flink find {@link SlowFileSystem} by its scheme. */
public final class SlowFileSystemFactory implements FileSystemFactory {
  @Override
  public String getScheme() {
    return SlowFileSystem.SCHEME;
  }

  @Override
  public FileSystem create(URI uri) {
    return new SlowFileSystem();
  }
}
