package io.fasterkv.flink;

import java.util.List;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.StateBackendMigrationTestBase;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.extension.ExtendWith;

/** Flink's own suite for changed serializers. */
@ExtendWith(ParameterizedTestExtension.class)
class FasterStateMigrationTest extends StateBackendMigrationTestBase<FasterStateBackend> {

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
  protected FasterStateBackend getStateBackend() {
    return settings.backend();
  }

  @Override
  protected CheckpointStorage getCheckpointStorage() {
    return new JobManagerCheckpointStorage();
  }
}
