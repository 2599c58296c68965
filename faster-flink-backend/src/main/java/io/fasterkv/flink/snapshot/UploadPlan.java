package io.fasterkv.flink.snapshot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.SnapshotType.SharingFilesStrategy;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;

/**
 * The plan for an incremental checkpoint's files: where to write them, and which exist already.
 *
 * @param checkpointId id of the checkpoint
 * @param sharing which checkpoints may refer to its files
 * @param usable files of earlier checkpoints that it may refer to
 * @param copyable files of earlier checkpoints that the storage can copy for it
 * @param mostStreams how many files are written at a time
 * @param streams creates files
 */
record UploadPlan(
    long checkpointId,
    SharingFilesStrategy sharing,
    List<LogFile> usable,
    List<LogFile> copyable,
    int mostStreams,
    CheckpointStreamFactory streams) {

  /**
   * Decides which files of earlier checkpoints are used, copied, or written again.
   *
   * @param earlier the files that any new checkpoint may refer to
   */
  static UploadPlan of(
      long checkpointId,
      SharingFilesStrategy sharing,
      List<LogFile> earlier,
      int mostStreams,
      CheckpointStreamFactory streams) {
    List<LogFile> usable = new ArrayList<>();
    List<LogFile> copyable = new ArrayList<>();
    for (LogFile file : earlier) {
      if (sharing == SharingFilesStrategy.FORWARD_BACKWARD
          && streams.couldReuseStateHandle(file.handle())) {
        usable.add(file);
      } else if (canCopy(file, scope(sharing), streams)) {
        copyable.add(file);
      }
    }
    return new UploadPlan(
        checkpointId, sharing, List.copyOf(usable), List.copyOf(copyable), mostStreams, streams);
  }

  /** A copy has the name of its source, so it needs another directory. */
  private static boolean canCopy(
      LogFile file, CheckpointedStateScope scope, CheckpointStreamFactory streams) {
    try {
      return !isIn(file, scope, streams) && streams.canFastDuplicate(file.handle(), scope);
    } catch (IOException cause) {
      throw new UncheckedIOException("cannot tell whether a file can be copied: " + file, cause);
    }
  }

  private static boolean isIn(
      LogFile file, CheckpointedStateScope scope, CheckpointStreamFactory streams) {
    return file.handle() instanceof FileStateHandle handle
        && streams instanceof FsCheckpointStreamFactory directories
        && handle
            .getFilePath()
            .equals(new Path(directories.getTargetPath(scope), handle.getFilePath().getName()));
  }

  /** Whether later checkpoints may refer to its files. */
  boolean isShared() {
    return sharing != SharingFilesStrategy.NO_SHARING;
  }

  /** The scope of the log's files. */
  CheckpointedStateScope scope() {
    return scope(sharing);
  }

  private static CheckpointedStateScope scope(SharingFilesStrategy sharing) {
    return sharing == SharingFilesStrategy.NO_SHARING
        ? CheckpointedStateScope.EXCLUSIVE
        : CheckpointedStateScope.SHARED;
  }
}
