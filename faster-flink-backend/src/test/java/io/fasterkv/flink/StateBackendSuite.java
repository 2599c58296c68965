package io.fasterkv.flink;

import io.fasterkv.flink.records.MostlyOnDisk;
import org.apache.flink.runtime.state.AbstractStateBackend;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.StateBackendTestBase;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Flink's own suite for keyed state backends. */
@ExtendWith(ParameterizedTestExtension.class)
abstract class StateBackendSuite extends StateBackendTestBase<AbstractStateBackend> {
  @RegisterExtension static final MostlyOnDisk ON_DISK = MostlyOnDisk.over(80);

  @Parameter TestSettings settings = TestSettings.ROOMY;

  @Override
  protected ConfigurableStateBackend getStateBackend() {
    return settings.backend();
  }

  @Override
  protected CheckpointStorage getCheckpointStorage() {
    return new JobManagerCheckpointStorage();
  }

  @Override
  protected boolean isSerializerPresenceRequiredOnRestore() {
    return false;
  }

  @Override
  protected boolean supportsAsynchronousSnapshots() {
    return true;
  }

  @Override
  protected boolean isSafeToReuseKVState() {
    return settings != TestSettings.HEAP_TIMERS;
  }
}
