package io.fasterkv.flink;

import io.fasterkv.flink.records.MostlyOnDisk;
import java.util.List;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.StateBackendMigrationTestBase;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs Flink's own suite for changed serializers. */
@ExtendWith(ParameterizedTestExtension.class)
class FasterStateMigrationTest extends StateBackendMigrationTestBase<ConfigurableStateBackend> {
  @RegisterExtension static final MostlyOnDisk ON_DISK = MostlyOnDisk.over(80);

  @Parameter TestSettings settings = TestSettings.ROOMY;

  @Parameters
  static List<TestSettings> settings() {
    return List.of(
        TestSettings.ROOMY,
        TestSettings.TINY,
        TestSettings.HEAP_TIMERS,
        TestSettings.ROOMY_INCREMENTAL,
        TestSettings.TINY_INCREMENTAL);
  }

  @Override
  protected ConfigurableStateBackend getStateBackend() {
    return settings.backend();
  }

  @Override
  protected CheckpointStorage getCheckpointStorage() {
    return new JobManagerCheckpointStorage();
  }
}
