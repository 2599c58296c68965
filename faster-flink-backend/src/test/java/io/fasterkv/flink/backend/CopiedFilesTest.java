package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.core.fs.ICloseableRegistry;
import org.apache.flink.core.fs.PathsCopyingFileSystem;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a full checkpoint lets the storage copy files of the checkpoint from which the job was
 * restored.
 */
class CopiedFilesTest {
  private static final int KEYS = 1_000;

  @TempDir private Path local;
  @TempDir private Path remote;
  private final CopyingFileSystem files = new CopyingFileSystem();
  private TestBackends backends;

  @BeforeEach
  void open() {
    backends = new TestBackends(TestSettings.ROOMY_INCREMENTAL, local);
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
    assertThat(local).isEmptyDirectory();
  }

  private static final class CopyingFileSystem extends LocalFileSystem
      implements PathsCopyingFileSystem {
    private final List<CopyRequest> copied = new ArrayList<>();

    @Override
    public void copyFiles(List<CopyRequest> requests, ICloseableRegistry registry)
        throws IOException {
      for (CopyRequest request : requests) {
        Files.copy(
            Paths.get(request.getSource().getPath()),
            Paths.get(request.getDestination().getPath()));
      }
      copied.addAll(requests);
    }

    @Override
    public boolean canCopyPaths(
        org.apache.flink.core.fs.Path source, org.apache.flink.core.fs.Path destination) {
      return true;
    }
  }

  private FsCheckpointStreamFactory storage(String job) throws IOException {
    Path directory = Files.createDirectories(remote.resolve(job));
    org.apache.flink.core.fs.Path path = new org.apache.flink.core.fs.Path(directory.toUri());
    return new FsCheckpointStreamFactory(files, path, path, 0, 4096);
  }

  private static KeyedStateHandle take(
      FasterKeyedStateBackend<Integer> backend,
      long id,
      SnapshotType type,
      FsCheckpointStreamFactory storage)
      throws Exception {
    var snapshot =
        backend.snapshot(
            id,
            id,
            storage,
            new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault()));
    snapshot.run();
    backend.notifyCheckpointComplete(id);
    return snapshot.get().getJobManagerOwnedSnapshot();
  }

  @Test
  void filesOfAnotherJobAreCopiedAndItsDirectoryIsNotNeededAnyMore() throws Exception {
    FasterKeyedStateBackend<Integer> first = backends.open();
    IncrementalCheckpoints.put(first, 0, KEYS, 1);
    KeyedStateHandle handle = take(first, 1, CheckpointType.CHECKPOINT, storage("first"));
    first.dispose();

    FasterKeyedStateBackend<Integer> second = backends.open(handle);
    IncrementalCheckpoints.put(second, KEYS, KEYS + 10, 2);
    KeyedStateHandle own = take(second, 2, CheckpointType.FULL_CHECKPOINT, storage("second"));
    assertThat(files.copied).isNotEmpty();
    second.dispose();
    FileUtils.deleteDirectory(remote.resolve("first").toFile());

    FasterKeyedStateBackend<Integer> third = backends.open(own);
    IncrementalCheckpoints.assertHolds(third, 0, KEYS, 1);
    IncrementalCheckpoints.assertHolds(third, KEYS, KEYS + 10, 2);
  }

  @Test
  void aFileIsNeverCopiedOntoItself() throws Exception {
    FasterKeyedStateBackend<Integer> backend = backends.open();
    IncrementalCheckpoints.put(backend, 0, KEYS, 1);
    take(backend, 1, CheckpointType.CHECKPOINT, storage("job"));
    KeyedStateHandle full = take(backend, 2, CheckpointType.FULL_CHECKPOINT, storage("job"));
    backend.dispose();
    assertThat(files.copied).isEmpty();
    try (Stream<Path> all = Files.list(remote.resolve("job"))) {
      assertThat(all).hasSize(4);
    }
    IncrementalCheckpoints.assertHolds(backends.open(full), 0, KEYS, 1);
  }
}
