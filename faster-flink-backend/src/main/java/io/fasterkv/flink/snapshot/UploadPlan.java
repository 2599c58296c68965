package io.fasterkv.flink.snapshot;

import java.util.List;
import org.apache.flink.runtime.checkpoint.SnapshotType.SharingFilesStrategy;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;

/**
 * Where an incremental checkpoint's files go, and which of them are there.
 *
 * @param checkpointId of the checkpoint
 * @param sharing who may refer to its files
 * @param usable files of earlier checkpoints that it may have
 * @param streams makes files
 */
record UploadPlan(
    long checkpointId,
    SharingFilesStrategy sharing,
    List<LogFile> usable,
    CheckpointStreamFactory streams) {

  /** Whether later checkpoints may have its files. */
  boolean isShared() {
    return sharing != SharingFilesStrategy.NO_SHARING;
  }

  /** Of the log's files. */
  CheckpointedStateScope scope() {
    return isShared() ? CheckpointedStateScope.SHARED : CheckpointedStateScope.EXCLUSIVE;
  }
}
