package io.fasterkv.flink.snapshot;

import java.io.IOException;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.LocalRecoveryConfig;

/** The stream of a file that one snapshot has alone. */
final class ExclusiveStream {
  private ExclusiveStream() {}

  /**
   * Opens it. What a checkpoint writes goes to this machine too if Flink is set so; what becomes of
   * that fails no checkpoint. From a savepoint no task comes back by itself.
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
