package io.fasterkv.flink.backend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;

/** Stores checkpoints in files, for state that does not fit on the heap twice. */
final class CheckpointFiles {
  private static final int WITH_METADATA_BYTES = 1 << 10;
  private static final int BUFFER_BYTES = 64 << 10;

  private CheckpointFiles() {}

  /** Storage in files below a directory, which this method creates. */
  static CheckpointStreamFactory below(Path directory) throws IOException {
    return new FsCheckpointStreamFactory(
        LocalFileSystem.getSharedInstance(),
        made(directory.resolve("checkpoint")),
        made(directory.resolve("shared")),
        WITH_METADATA_BYTES,
        BUFFER_BYTES);
  }

  private static org.apache.flink.core.fs.Path made(Path directory) throws IOException {
    return new org.apache.flink.core.fs.Path(Files.createDirectories(directory).toUri());
  }
}
