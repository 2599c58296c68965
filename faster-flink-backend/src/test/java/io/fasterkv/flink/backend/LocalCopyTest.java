package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a checkpoint creates its local copy only if that costs nothing. */
class LocalCopyTest {
  private static final int KEYS = 3000;

  /** Values of this length give the files digests, so that a restore does not read all of them. */
  private static final int LONG_BYTES = 900;

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path stores;
  @TempDir Path copies;

  private final SharedFiles files = new SharedFiles();
  private final SharedStateRegistry registry = new SharedStateRegistryImpl(Runnable::run);
  private TestBackends backends;
  private long checkpoint;

  @BeforeEach
  void open() {
    Configuration config = TestSettings.TINY_INCREMENTAL.config();
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(stores.toString()));
    backends =
        new TestBackends(
            config,
            LocalRecoveryConfig.backupAndRecoveryEnabled(
                new LocalSnapshotDirectoryProviderImpl(
                    copies.toFile(), new JobID(), new JobVertexID(), 0)));
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
    assertThat(stores).isEmptyDirectory();
  }

  private RunnableFuture<SnapshotResult<KeyedStateHandle>> start(
      FasterKeyedStateBackend<Integer> backend) throws Exception {
    return backend.snapshot(
        ++checkpoint, 1, files, CheckpointOptions.forCheckpointWithDefaultLocation());
  }

  private SnapshotResult<KeyedStateHandle> take(FasterKeyedStateBackend<Integer> backend)
      throws Exception {
    var future = start(backend);
    future.run();
    SnapshotResult<KeyedStateHandle> result = future.get();
    result.getJobManagerOwnedSnapshot().registerSharedStates(registry, checkpoint);
    backend.notifyCheckpointComplete(checkpoint);
    return result;
  }

  /** No checkpoint waits for the background copy, no matter how long it takes. */
  @Test
  void noCheckpointWaitsUntilARestoredLogIsHere() throws Exception {
    FasterKeyedStateBackend<Integer> backend = backends.open();
    IncrementalCheckpoints.put(backend, 0, KEYS, 1, LONG_BYTES);
    KeyedStateHandle elsewhere = take(backend).getJobManagerOwnedSnapshot();
    backend.dispose();
    Set<Path> copiedBefore = copiedFiles();

    files.refuseLending(true);
    FasterKeyedStateBackend<Integer> restored = backends.open(elsewhere);
    assertThat(restored.store().integration().bytesToCopy()).isPositive();
    IncrementalCheckpoints.put(restored, 0, 10, 2, LONG_BYTES);
    SnapshotResult<KeyedStateHandle> early = take(restored);
    assertThat(early.getJobManagerOwnedSnapshot()).isNotNull();
    assertThat(early.getTaskLocalSnapshot()).isNull();
    assertThat(copiedFiles()).isEqualTo(copiedBefore);

    files.refuseLending(false);
    long start = System.nanoTime();
    while (restored.store().integration().bytesToCopy() > 0) {
      assertThat(System.nanoTime() - start).isLessThan(PATIENCE.toNanos());
      Thread.onSpinWait();
    }
    assertThat(take(restored).getTaskLocalSnapshot()).isNotNull();
  }

  /** The result of a cancelled future is lost. */
  @Test
  void aCheckpointThatIsCancelledAtItsEndLeavesNoFile() throws Exception {
    FasterKeyedStateBackend<Integer> backend = backends.open();
    IncrementalCheckpoints.put(backend, 0, KEYS, 1, LONG_BYTES);
    take(backend);
    Set<String> before = files.names();
    Set<Path> copiedBefore = copiedFiles();
    IncrementalCheckpoints.put(backend, 0, KEYS, 2, LONG_BYTES);

    var future = start(backend);
    files.whenExclusive(() -> future.cancel(true));
    future.run();
    assertThat(Thread.interrupted()).isTrue();
    files.whenExclusive(() -> {});

    assertThat(future.isCancelled()).isTrue();
    assertThat(files.names()).isEqualTo(before);
    assertThat(copiedFiles()).isEqualTo(copiedBefore);
    assertThat(take(backend).getTaskLocalSnapshot()).isNotNull();
  }

  private Set<Path> copiedFiles() throws Exception {
    try (Stream<Path> all = Files.walk(copies)) {
      return Set.copyOf(all.filter(Files::isRegularFile).toList());
    }
  }
}
