package io.fasterkv.flink.jobs;

import java.nio.file.Path;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;

/** Clusters of one TaskManager with local recovery. */
final class LocalClusters {
  private LocalClusters() {}

  /**
   * Returns the configuration of a cluster with two slots.
   *
   * @param local the directory for local copies
   */
  static MiniClusterResourceConfiguration configuration(Path local) {
    return new MiniClusterResourceConfiguration.Builder()
        .setConfiguration(
            new Configuration()
                .set(StateRecoveryOptions.LOCAL_RECOVERY, true)
                .set(
                    CheckpointingOptions.LOCAL_RECOVERY_TASK_MANAGER_STATE_ROOT_DIRS,
                    local.toString()))
        .setNumberTaskManagers(1)
        .setNumberSlotsPerTaskManager(2)
        .build();
  }
}
