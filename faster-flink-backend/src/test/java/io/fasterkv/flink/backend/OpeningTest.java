package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.FasterStateBackend;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.metrics.MetricNames;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what opening a backend reports to Flink, and what remains if the backend or a snapshot
 * cannot start.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class OpeningTest {
  private static final int MOST_BYTES = 64 << 20;
  private static final Duration BOUND = Duration.ofSeconds(5);

  @TempDir private Path directory;

  private final Map<String, Long> durations = new HashMap<>();

  private FasterKeyedStateBackend<Integer> open(
      TestTaskStateManager tasks, TestSettings settings, Collection<KeyedStateHandle> handles)
      throws Exception {
    Configuration config = settings.config();
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()));
    MockEnvironment env = MockEnvironment.builder().setTaskStateManager(tasks).build();
    JobID job = new JobID();
    CheckpointableKeyedStateBackend<Integer> backend =
        new FasterStateBackend()
            .configure(config, getClass().getClassLoader())
            .createKeyedStateBackend(
                new KeyedStateBackendParametersImpl<>(
                    env,
                    job,
                    "test operator",
                    IntSerializer.INSTANCE,
                    TestBackends.KEY_GROUPS,
                    KeyGroupRange.of(0, TestBackends.KEY_GROUPS - 1),
                    new KvStateRegistry().createTaskRegistry(job, env.getJobVertexId()),
                    TtlTimeProvider.DEFAULT,
                    new UnregisteredMetricsGroup(),
                    durations::put,
                    handles,
                    new CloseableRegistry(),
                    1.0));
    return (FasterKeyedStateBackend<Integer>) backend;
  }

  private static Set<Thread> storeThreads() {
    Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    threads.removeIf(thread ->
        !thread.getName().startsWith("faster-") || thread.getName().equals("faster-memory"));
    return threads;
  }

  /** The store opens, and then a later step fails. */
  @Test
  void aStoreThatIsNotHandedOutIsClosed() throws Exception {
    Set<Thread> before = storeThreads();
    TestTaskStateManager broken =
        new TestTaskStateManager() {
          @Override
          public LocalRecoveryConfig createLocalRecoveryConfig() {
            throw new IllegalStateException("injected");
          }
        };
    assertThatThrownBy(() -> open(broken, TestSettings.ROOMY_INCREMENTAL, List.of()))
        .hasRootCauseMessage("injected");
    assertThat(directory).isEmptyDirectory();
    for (Thread thread : storeThreads()) {
      assertThat(before.contains(thread) || thread.join(BOUND))
          .as("a thread of the store: " + thread)
          .isTrue();
    }
  }

  @Test
  void anEmptyBackendReportsNoRestore() throws Exception {
    open(new TestTaskStateManager(), TestSettings.ROOMY_INCREMENTAL, List.of()).dispose();
    assertThat(durations).isEmpty();
  }

  @Test
  void aRestoreReportsHowLongItsPartsTook() throws Exception {
    var full = restored(TestSettings.ROOMY);
    full.dispose();
    assertThat(durations).containsOnlyKeys(MetricNames.RESTORE_STATE_DURATION);

    durations.clear();
    var incremental = restored(TestSettings.ROOMY_INCREMENTAL);
    incremental.dispose();
    assertThat(durations)
        .containsOnlyKeys(MetricNames.DOWNLOAD_STATE_DURATION, MetricNames.RESTORE_STATE_DURATION);
    assertThat(durations.values()).allSatisfy(millis -> assertThat(millis).isNotNegative());
  }

  private FasterKeyedStateBackend<Integer> restored(TestSettings settings) throws Exception {
    var backend = open(new TestTaskStateManager(), settings, List.of());
    IncrementalCheckpoints.put(backend, 0, 100, 1);
    KeyedStateHandle handle = TestBackends.snapshot(backend);
    backend.dispose();
    var restored = open(new TestTaskStateManager(), settings, List.of(handle));
    IncrementalCheckpoints.assertHolds(restored, 0, 100, 1);
    return restored;
  }

  /** Flink never releases a snapshot whose asynchronous part it does not receive. */
  @Test
  void aSnapshotThatCannotStartDoesNotKeepTheStoreOpen() throws Exception {
    var backend = open(new TestTaskStateManager(), TestSettings.ROOMY_INCREMENTAL, List.of());
    IncrementalCheckpoints.put(backend, 0, 100, 1);
    TestBackends.snapshot(backend);
    backend.notifyCheckpointComplete(1);
    CheckpointStreamFactory broken =
        new MemCheckpointStreamFactory(MOST_BYTES) {
          @Override
          public boolean couldReuseStateHandle(StreamStateHandle handle) {
            throw new IllegalStateException("injected");
          }
        };
    assertThatThrownBy(() -> TestBackends.start(backend, broken))
        .isInstanceOf(IllegalStateException.class);
    Thread task = Thread.ofPlatform().daemon().start(backend::dispose);
    assertThat(task.join(BOUND)).as("disposed").isTrue();
  }
}
