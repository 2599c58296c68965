package org.apache.flink.test.state;

import io.fasterkv.flink.TestSettings;
import java.util.Collection;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** This backend as one end of a switch of state backends. It is in the package of Flink's suite. */
final class FasterSwitchSpec implements BackendSwitchSpecs.BackendSwitchSpec {
  private final TestSettings settings;
  private final MockEnvironment env = MockEnvironment.builder().build();

  FasterSwitchSpec(TestSettings settings) {
    this.settings = settings;
  }

  @Override
  public CheckpointableKeyedStateBackend<String> createBackend(
      KeyGroupRange keyGroupRange, int keyGroups, Collection<KeyedStateHandle> handles)
      throws Exception {
    JobID job = new JobID();
    return settings
        .backend()
        .createKeyedStateBackend(
            new KeyedStateBackendParametersImpl<>(
                env,
                job,
                "switch",
                StringSerializer.INSTANCE,
                keyGroups,
                keyGroupRange,
                new KvStateRegistry().createTaskRegistry(job, env.getJobVertexId()),
                TtlTimeProvider.DEFAULT,
                new UnregisteredMetricsGroup(),
                handles,
                new CloseableRegistry()));
  }

  @Override
  public void close() throws Exception {
    env.close();
  }

  @Override
  public String toString() {
    return "FASTER " + settings;
  }
}
