package io.fasterkv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.records.EvictingRecords;
import java.util.List;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.StateBackendMigrationTestBase;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs Flink's own suite for changed serializers. */
@ExtendWith(ParameterizedTestExtension.class)
class FasterStateMigrationTest extends StateBackendMigrationTestBase<ConfigurableStateBackend> {

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

  @BeforeAll
  static void beginToCount() {
    EvictingRecords.takePercentOnDisk();
  }

  @AfterAll
  static void whatTinyStoresLookedAtWasOnDisk() {
    assertThat(EvictingRecords.takePercentOnDisk()).isGreaterThan(80);
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
