package io.fasterkv.flink.snapshot;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.PathsCopyingFileSystem;
import org.apache.flink.core.fs.PathsCopyingFileSystem.CopyRequest;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.FileUtils;
import org.jspecify.annotations.Nullable;

/**
 * Copies whole files of checkpoint storage to a local directory, where their file system has a
 * faster way than streams ({@link PathsCopyingFileSystem}). All other files, and those whose copy
 * fails, are read over streams. Safe for all threads; closing the streams cancels the copies.
 */
public final class WholeFiles {
  /**
   * A copy starts only if the disk's free space is this many times the file's length: the log needs
   * space too.
   */
  private static final int FREE_TIMES = 2;

  private final Path directory;
  private final OpenStreams streams;
  private final Logger logger;

  /**
   * @param directory directory for the copies; created with the first one
   * @param streams cancels copies when it is closed
   */
  public WholeFiles(Path directory, OpenStreams streams, Logger logger) {
    this.directory = directory;
    this.streams = streams;
    this.logger = logger;
  }

  /**
   * Copies a file; blocks until all of it is local.
   *
   * @return the copy, or null if the file should be read over streams
   */
  @Nullable StreamStateHandle copy(StreamStateHandle file) {
    if (!(file instanceof FileStateHandle remote)) {
      return null;
    }
    Path target = directory.resolve(remote.getFilePath().getName());
    try {
      return copy(remote, target);
    } catch (IOException failure) {
      logger.log(
          Level.WARNING,
          "a file of a checkpoint cannot be copied as a whole, and is read over streams: file="
              + Blocks.nameOf(file),
          failure);
      deleteQuietly(target);
      return null;
    }
  }

  private @Nullable StreamStateHandle copy(FileStateHandle remote, Path target) throws IOException {
    org.apache.flink.core.fs.Path source = remote.getFilePath();
    org.apache.flink.core.fs.Path destination = new org.apache.flink.core.fs.Path(target.toUri());
    FileSystem storage = FileSystem.getUnguardedFileSystem(source.toUri());
    if (!(storage instanceof PathsCopyingFileSystem copying)
        || !storage.canCopyPaths(source, destination)
        || !hasRoom(remote.getStateSize())) {
      return null;
    }
    CloseableRegistry cancellation = streams.open(CloseableRegistry::new);
    try {
      copying.copyFiles(
          List.of(CopyRequest.of(source, destination, remote.getStateSize())), cancellation);
    } finally {
      streams.close(cancellation);
    }
    long copied = Files.size(target);
    if (copied != remote.getStateSize()) {
      throw new IOException(
          "a copy of a file is not as long as the file: copy="
              + target
              + ", bytes="
              + copied
              + ", fileBytes="
              + remote.getStateSize());
    }
    return new FileStateHandle(destination, copied);
  }

  private boolean hasRoom(long bytes) throws IOException {
    synchronized (this) {
      if (!Files.exists(directory)) {
        OwnerOnly.createDirectory(directory);
      }
    }
    return Files.getFileStore(directory).getUsableSpace() / FREE_TIMES >= bytes;
  }

  private void deleteQuietly(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException stays) {
      logger.log(Level.DEBUG, "a part of a copy cannot be deleted: file=" + file, stays);
    }
  }

  /** Removes all copies. */
  void delete() {
    FileUtils.deleteDirectoryQuietly(directory.toFile());
  }
}
