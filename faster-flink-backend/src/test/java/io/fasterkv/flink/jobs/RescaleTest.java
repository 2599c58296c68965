package io.fasterkv.flink.jobs;

import io.fasterkv.flink.Seeds;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests one job at several parallelisms in turn; each key's state is checked at each of them. */
@Tag("long")
@Tag("seeds")
class RescaleTest {
  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(4)
              .build());

  @TempDir private Path directory;

  static List<JobSettings> settings() {
    return JobSettings.some(Seeds.part(JobSettings.values().length));
  }

  @ParameterizedTest
  @MethodSource("settings")
  void stateIsWholeAtOneFourTwoAndThreeTasks(
      JobSettings settings, @InjectMiniCluster MiniCluster cluster) throws Exception {
    Configuration config = settings.config(directory);
    config.setString("restart-strategy.type", "none");
    // The last checkpoint must still exist after the job has been cancelled.
    config.setString("execution.checkpointing.num-retained", "1000");
    Path savepoints = directory.resolve("savepoints");

    CheckedJob job = CheckedJob.startFirst(cluster, config, 1);
    String path = job.checkpoint();
    job.cancel();

    config.set(StateRecoveryOptions.SAVEPOINT_PATH, path);
    job = CheckedJob.start(cluster, config, 4);
    path = job.stop(savepoints, SavepointFormatType.CANONICAL);

    config.set(StateRecoveryOptions.SAVEPOINT_PATH, path);
    job = CheckedJob.start(cluster, config, 2);
    path = job.stop(savepoints, SavepointFormatType.NATIVE);

    config.set(StateRecoveryOptions.SAVEPOINT_PATH, path);
    CheckedJob.start(cluster, config, 3).end();
  }
}
