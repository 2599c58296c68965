package io.fasterkv.flink.snapshot;

import java.io.IOException;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.LocalRecoveryConfig;

/** Opens the stream of a file that belongs to one snapshot only. */
final class ExclusiveStream {
  private ExclusiveStream() {}

  /**
   * Opens the stream. If Flink is configured for local recovery, it also writes a checkpoint to
   * this machine; a failure of that copy does not fail the checkpoint. Savepoints have no local
   * copy, since tasks do not restart from them automatically.
   */
  static CheckpointStreamWithResultProvider open(
      LocalRecoveryConfig recovery,
      boolean isSavepoint,
      long checkpointId,
      CheckpointStreamFactory streams)
      throws IOException {
    return recovery.isLocalBackupEnabled() && !isSavepoint
        ? CheckpointStreamWithResultProvider.createDuplicatingStream(
            checkpointId,
            CheckpointedStateScope.EXCLUSIVE,
            streams,
            recovery
                .getLocalStateDirectoryProvider()
                .orElseThrow(LocalRecoveryConfig.localRecoveryNotEnabled()))
        : CheckpointStreamWithResultProvider.createSimpleStream(
            CheckpointedStateScope.EXCLUSIVE, streams);
  }
}
