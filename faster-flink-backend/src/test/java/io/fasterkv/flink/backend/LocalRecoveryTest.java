package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests checkpoints that also have a local copy. */
class LocalRecoveryTest {
  private static final int KEYS = 500;

  @TempDir Path stores;
  @TempDir Path copies;

  private final SharedFiles files = new SharedFiles();
  private final SharedStateRegistry registry = new SharedStateRegistryImpl(Runnable::run);
  private final ModelStates model = new ModelStates();
  private final SplittableRandom random = new SplittableRandom(11);
  private TestBackends backends;
  private long checkpoint;

  private void open(TestSettings settings) {
    Configuration config = settings.config();
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(stores.toString()));
    LocalRecoveryConfig recovery =
        LocalRecoveryConfig.backupAndRecoveryEnabled(
            new LocalSnapshotDirectoryProviderImpl(
                copies.toFile(), new JobID(), new JobVertexID(), 0));
    backends = new TestBackends(config, recovery);
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
    assertThat(stores).isEmptyDirectory();
  }

  private SnapshotResult<KeyedStateHandle> take(FasterKeyedStateBackend<Integer> backend)
      throws Exception {
    SnapshotResult<KeyedStateHandle> result =
        take(backend, CheckpointOptions.forCheckpointWithDefaultLocation());
    backend.notifyCheckpointComplete(checkpoint);
    return result;
  }

  private SnapshotResult<KeyedStateHandle> take(
      FasterKeyedStateBackend<Integer> backend, CheckpointOptions options) throws Exception {
    var future = backend.snapshot(++checkpoint, 1, files, options);
    future.run();
    SnapshotResult<KeyedStateHandle> result = future.get();
    result.getJobManagerOwnedSnapshot().registerSharedStates(registry, checkpoint);
    return result;
  }

  /** Restores do not read the remote files, but new checkpoints reuse them. */
  @Test
  void aSubtaskIsRestoredFromLocalFilesAlone() throws Exception {
    open(TestSettings.TINY_INCREMENTAL);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    model.change(backend, random, KEYS, 20_000);
    SnapshotResult<KeyedStateHandle> taken = take(backend);
    long end = end(taken);
    backend.dispose();
    // From now on, reading the remote files fails.
    ((IncrementalRemoteKeyedStateHandle) taken.getJobManagerOwnedSnapshot())
        .streamSubHandles()
        .forEach(file -> files.replace(file, new byte[0]));

    FasterKeyedStateBackend<Integer> restored = backends.open(taken.getTaskLocalSnapshot());
    model.check(restored, KEYS);
    long before = files.sharedBytes();
    model.change(restored, random, KEYS, 100);
    SnapshotResult<KeyedStateHandle> next = take(restored);
    // Only new data is uploaded; the files of the first checkpoint are not written again.
    assertThat(files.sharedBytes() - before).isLessThanOrEqualTo((end(next) - end) * 11 / 10);
    model.check(backends.open(next.getTaskLocalSnapshot()), KEYS);
  }

  /** The copy is one file with the same bytes. */
  @Tag("slow")
  @Test
  void aSubtaskIsRestoredFromALocalFullCheckpointAlone() throws Exception {
    open(TestSettings.TINY);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    model.change(backend, random, KEYS, 20_000);
    SnapshotResult<KeyedStateHandle> taken = take(backend);
    backend.dispose();
    StreamStateHandle elsewhere = file(taken.getJobManagerOwnedSnapshot());
    try (InputStream here = file(taken.getTaskLocalSnapshot()).openInputStream()) {
      assertThat(here).hasBinaryContent(files.bytes(elsewhere));
    }
    // From now on, reading the remote file fails.
    files.replace(elsewhere, new byte[0]);
    assertThatThrownBy(() -> backends.open(taken.getJobManagerOwnedSnapshot()))
        .hasRootCauseInstanceOf(EOFException.class);

    FasterKeyedStateBackend<Integer> restored = backends.open(taken.getTaskLocalSnapshot());
    model.check(restored, KEYS);
    model.change(restored, random, KEYS, 100);
    model.check(backends.open(take(restored).getTaskLocalSnapshot()), KEYS);
  }

  private static StreamStateHandle file(KeyedStateHandle full) {
    return ((KeyGroupsStateHandle) full).getDelegateStateHandle();
  }

  /** Flink never restores tasks from a savepoint automatically. */
  @ParameterizedTest
  @EnumSource(names = {"TINY", "TINY_INCREMENTAL"})
  void aSavepointIsNotKeptHere(TestSettings settings) throws Exception {
    open(settings);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    model.change(backend, random, KEYS, 2_000);
    SnapshotResult<KeyedStateHandle> taken =
        take(
            backend,
            new CheckpointOptions(
                SavepointType.savepoint(SavepointFormatType.NATIVE),
                CheckpointStorageLocationReference.getDefault()));
    assertThat(taken.getTaskLocalSnapshot()).isNull();
    assertThat(copies).isEmptyDirectory();
    model.check(backends.open(taken.getJobManagerOwnedSnapshot()), KEYS);
  }

  /** Such as the first checkpoint of a job that has not processed any data yet. */
  @ParameterizedTest
  @EnumSource(names = {"TINY", "TINY_INCREMENTAL"})
  void aCheckpointWithoutRecordsIsRestoredLocallyAndRemotely(TestSettings settings)
      throws Exception {
    open(settings);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    model.change(backend, random, KEYS, 0);
    SnapshotResult<KeyedStateHandle> taken = take(backend);
    backend.dispose();
    for (KeyedStateHandle handle :
        List.of(taken.getJobManagerOwnedSnapshot(), taken.getTaskLocalSnapshot())) {
      FasterKeyedStateBackend<Integer> restored = backends.open(handle);
      model.check(restored, KEYS);
      ModelStates changed = new ModelStates(model);
      changed.change(restored, random, KEYS, 500);
      restored.dispose();
    }
    FasterKeyedStateBackend<Integer> restored = backends.open(taken.getTaskLocalSnapshot());
    model.change(restored, random, KEYS, 500);
    model.check(backends.open(take(restored).getJobManagerOwnedSnapshot()), KEYS);
  }

  /** Stores that continue from a copy, and copies of other checkpoints, do not change the copy. */
  @Tag("slow")
  @ParameterizedTest
  @EnumSource(names = {"TINY", "TINY_INCREMENTAL"})
  void aCopyStaysAsItIs(TestSettings settings) throws Exception {
    open(settings);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    model.change(backend, random, KEYS, 10_000);
    SnapshotResult<KeyedStateHandle> first = take(backend);
    ModelStates atFirst = new ModelStates(model);
    for (int round = 0; round < 3; round++) {
      model.change(backend, random, KEYS, 10_000);
      backend.store().log().compact();
      take(backend).getTaskLocalSnapshot().discardState();
    }
    backend.dispose();
    for (int round = 0; round < 3; round++) {
      FasterKeyedStateBackend<Integer> restored = backends.open(first.getTaskLocalSnapshot());
      atFirst.check(restored, KEYS);
      new ModelStates(atFirst).change(restored, random, KEYS, 10_000);
      restored.dispose();
    }
    first.getTaskLocalSnapshot().discardState();
    try (Stream<Path> left = Files.walk(copies)) {
      assertThat(left.filter(Files::isRegularFile)).isEmpty();
    }
  }

  @Test
  void damageIsReportedWithFileAndOffset() throws Exception {
    open(TestSettings.TINY_INCREMENTAL);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    model.change(backend, random, KEYS, 2_000);
    var local = (IncrementalLocalKeyedStateHandle) take(backend).getTaskLocalSnapshot();
    backend.dispose();
    try (Stream<Path> all = Files.list(local.getDirectoryStateHandle().getDirectory())) {
      for (Path file : all.toList()) {
        byte[] right = Files.readAllBytes(file);
        for (int i = 0; i < 10; i++) {
          byte[] wrong = right.clone();
          wrong[random.nextInt(wrong.length)] ^= 4;
          rewrite(file, wrong);
          assertThatThrownBy(() -> backends.open(local))
              .hasStackTraceContaining("file=")
              .hasStackTraceContaining("offset=");
        }
        rewrite(file, right);
      }
    }
    model.check(backends.open(local), KEYS);
  }

  /** End of a checkpoint's log, derived from the names of its files. */
  private static long end(SnapshotResult<KeyedStateHandle> taken) {
    return ((IncrementalRemoteKeyedStateHandle) taken.getJobManagerOwnedSnapshot())
        .getSharedState().stream()
            .map(HandleAndLocalPath::getLocalPath)
            .mapToLong(name -> Long.parseLong(name.substring(name.lastIndexOf('-') + 1), 16))
            .max()
            .orElseThrow();
  }

  private static void rewrite(Path file, byte[] bytes) throws IOException {
    Files.delete(file);
    Files.write(file, bytes);
  }

  /** A checkpoint completes even if its copy cannot be made. */
  @ParameterizedTest
  @EnumSource(names = {"TINY", "TINY_INCREMENTAL"})
  void aCopyThatCannotBeMadeFailsNoCheckpoint(TestSettings settings) throws Exception {
    open(settings);
    FasterKeyedStateBackend<Integer> backend = backends.open();
    model.change(backend, random, KEYS, 2_000);
    take(backend);
    try (Stream<Path> all = Files.walk(copies)) {
      Path next =
          all.filter(path -> path.getFileName().toString().equals("chk_1"))
              .findFirst()
              .orElseThrow()
              .resolveSibling("chk_2");
      Files.write(next, Seeds.bytes(random, 10));
    }
    model.change(backend, random, KEYS, 2_000);
    SnapshotResult<KeyedStateHandle> result = take(backend);
    assertThat(result.getTaskLocalSnapshot()).isNull();
    model.check(backends.open(result.getJobManagerOwnedSnapshot()), KEYS);
  }
}
