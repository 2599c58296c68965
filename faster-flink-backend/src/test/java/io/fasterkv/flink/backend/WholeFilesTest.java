package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.slowfs.CopyingFileSystem;
import io.fasterkv.flink.slowfs.CopyingFileSystem.Copies;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests restores from storage that copies whole files, or claims to. */
class WholeFilesTest extends IncrementalCheckpoints {
  private static final int KEYS = 3_000;
  private static final Duration BOUND = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path storage;

  /** Threads of stores that other tests of this process may have opened. */
  private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();

  /**
   * Files without digests are read before the store opens, those with digests in the background.
   */
  @ParameterizedTest
  @EnumSource(names = {"SUCCEED", "FAIL", "NOT_OFFERED"})
  void aRestoreHasAllValuesWhateverTheStorageDoes(Copies does) throws Exception {
    for (int bytes : new int[] {VALUE_BYTES, 2_000}) {
      IncrementalRemoteKeyedStateHandle handle = checkpoint(bytes);
      CopyingFileSystem files = CopyingFileSystem.reset(does);
      FasterKeyedStateBackend<Integer> restored = backends.open(handle);
      awaitThat(() -> restored.store().integration().bytesToCopy() == 0);
      int logs = handle.getSharedState().size();
      assertThat(files.begun()).isEqualTo(does == Copies.NOT_OFFERED ? 0 : logs);
      for (int key = 0; key < KEYS; key++) {
        restored.setCurrentKey(key);
        assertThat(state(restored).value()).hasSize(bytes).containsOnly(1);
      }
      awaitThat(() -> copies() == 0);
      restored.dispose();
    }
  }

  /** After the copy, reads use the copy and not the storage. */
  @Test
  void aCopiedFileIsNotReadOverStreams() throws Exception {
    IncrementalRemoteKeyedStateHandle handle = checkpoint(2_000);
    CopyingFileSystem files = CopyingFileSystem.reset(Copies.SUCCEED);
    FasterKeyedStateBackend<Integer> restored = backends.open(handle);
    int before = files.opened();
    awaitThat(() -> restored.store().integration().bytesToCopy() == 0);
    assertThat(files.opened()).isEqualTo(before);
    restored.dispose();
  }

  @Test
  void aCopyThatHangsEndsWithTheBackend() throws Exception {
    IncrementalRemoteKeyedStateHandle handle = checkpoint(2_000);
    CopyingFileSystem files = CopyingFileSystem.reset(Copies.HANG);
    FasterKeyedStateBackend<Integer> restored = backends.open(handle);
    awaitThat(() -> files.begun() > 0);
    // Meanwhile, operations read through streams.
    for (int key = 0; key < KEYS; key += 100) {
      restored.setCurrentKey(key);
      assertThat(state(restored).value()).hasSize(2_000);
    }
    Thread end = Thread.ofPlatform().daemon().start(restored::dispose);
    assertThat(end.join(BOUND)).as("disposed of in time").isTrue();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("faster-fill-") && !threadsBefore.contains(thread)) {
        assertThat(thread.join(BOUND)).as("the copy was cancelled").isTrue();
      }
    }
  }

  private IncrementalRemoteKeyedStateHandle checkpoint(int bytes) throws Exception {
    Path directory = Files.createTempDirectory(storage, "checkpoint");
    FasterKeyedStateBackend<Integer> backend = open(TestSettings.ROOMY_INCREMENTAL);
    put(backend, 0, KEYS, 1, bytes);
    org.apache.flink.core.fs.Path root = CopyingFileSystem.of(directory);
    IncrementalRemoteKeyedStateHandle handle =
        write(
            backend,
            CheckpointType.CHECKPOINT,
            new FsCheckpointStreamFactory(root.getFileSystem(), root, root, 0, 4096));
    backend.dispose();
    return handle;
  }

  /** Number of copied files, or -1 if a file is deleted during the count. */
  private long copies() {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(path -> path.getParent().endsWith("origin")).count();
    } catch (IOException | UncheckedIOException goes) {
      return -1;
    }
  }

  private static void awaitThat(BooleanSupplier holds) {
    long start = System.nanoTime();
    while (!holds.getAsBoolean()) {
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PATIENCE);
      Thread.yield();
    }
  }
}
