package io.fasterkv.flink.backend;

import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.config.FasterSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.UncompressedStreamCompressionDecorator;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.util.clock.Clock;
import org.apache.flink.util.clock.SystemClock;

/** Opens keyed backends with {@code Integer} keys, on stores below one directory. */
final class TestBackends implements AutoCloseable {
  static final int KEY_GROUPS = 32;
  private static final int MOST_BYTES = 256 << 20;

  private final MockEnvironment env;
  private final List<FasterKeyedStateBackend<Integer>> opened = new ArrayList<>();
  private final FasterSettings settings;
  private MetricGroup metrics = new UnregisteredMetricsGroup();
  private TtlTimeProvider time = TtlTimeProvider.DEFAULT;
  private volatile CloseableRegistry whileOpening = new CloseableRegistry();

  TestBackends(TestSettings settings, Path directory) {
    this(settings.config().set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString())));
  }

  TestBackends(Configuration config) {
    this(config, LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED);
  }

  TestBackends(Configuration config, LocalRecoveryConfig recovery) {
    env =
        MockEnvironment.builder()
            .setTaskStateManager(
                TestTaskStateManager.builder().setLocalRecoveryConfig(recovery).build())
            .build();
    settings = TestSettings.settings(config);
  }

  /** Sets Flink's option for snapshot compression, for backends that are opened from now on. */
  TestBackends compress(boolean isWanted) {
    env.getExecutionConfig().setUseSnapshotCompression(isWanted);
    return this;
  }

  /** Makes backends that are opened from now on register their metrics in {@code group}. */
  void reportTo(MetricGroup group) {
    metrics = group;
  }

  /** Makes backends that are opened from now on read the time from {@code provider}. */
  void useTime(TtlTimeProvider provider) {
    time = provider;
  }

  FasterKeyedStateBackend<Integer> open(KeyedStateHandle... handles) throws Exception {
    return open(KeyGroupRange.of(0, KEY_GROUPS - 1), List.of(handles));
  }

  FasterKeyedStateBackend<Integer> open(KeyGroupRange range, Collection<KeyedStateHandle> handles)
      throws Exception {
    return open(SystemClock.getInstance(), parameters(range, handles));
  }

  /** Opens a backend whose restore reads the time from a clock. */
  FasterKeyedStateBackend<Integer> open(Clock clock, KeyedStateHandle... handles) throws Exception {
    return open(clock, parameters(KeyGroupRange.of(0, KEY_GROUPS - 1), List.of(handles)));
  }

  private FasterKeyedStateBackend<Integer> open(
      Clock clock, KeyedStateBackendParameters<Integer> parameters) throws Exception {
    return opened(
        new FasterKeyedStateBackendBuilder<>(
                parameters,
                settings,
                new Tracking(
                    LatencyTrackingStateConfig.disabled(), SizeTrackingStateConfig.disabled()),
                UncompressedStreamCompressionDecorator.INSTANCE,
                clock)
            .build());
  }

  private KeyedStateBackendParameters<Integer> parameters(
      KeyGroupRange range, Collection<KeyedStateHandle> handles) {
    JobID job = new JobID();
    whileOpening = new CloseableRegistry();
    return new KeyedStateBackendParametersImpl<>(
        env,
        job,
        "test operator",
        IntSerializer.INSTANCE,
        KEY_GROUPS,
        range,
        new KvStateRegistry().createTaskRegistry(job, env.getJobVertexId()),
        time,
        metrics,
        handles,
        whileOpening);
  }

  private FasterKeyedStateBackend<Integer> opened(FasterKeyedStateBackend<Integer> backend)
      throws IOException {
    whileOpening.close();
    opened.add(backend);
    return backend;
  }

  /** Cancels the task whose backend is being opened. */
  void cancel() throws IOException {
    whileOpening.close();
  }

  static CheckpointStreamFactory inMemory() {
    return new MemCheckpointStreamFactory(MOST_BYTES);
  }

  static RunnableFuture<SnapshotResult<KeyedStateHandle>> start(
      FasterKeyedStateBackend<?> backend, CheckpointStreamFactory streams) throws Exception {
    return backend.snapshot(1, 1, streams, CheckpointOptions.forCheckpointWithDefaultLocation());
  }

  static KeyedStateHandle finish(RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot)
      throws Exception {
    if (!snapshot.isDone()) {
      snapshot.run();
    }
    return snapshot.get().getJobManagerOwnedSnapshot();
  }

  static KeyedStateHandle snapshot(FasterKeyedStateBackend<?> backend) throws Exception {
    return finish(start(backend, inMemory()));
  }

  @Override
  public void close() throws Exception {
    opened.forEach(FasterKeyedStateBackend::dispose);
    env.close();
  }
}
