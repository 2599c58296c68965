package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a log of more than 64 MiB is uploaded to several files at a time. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("long")
class ParallelUploadTest {
  private static final int VALUE_BYTES = 100_000;
  private static final int KEYS = 2_000;
  private static final long MOST_FILE_BYTES = 64 << 20;

  @TempDir private Path local;
  @TempDir private Path remote;
  private TestBackends backends;

  private FasterKeyedStateBackend<Integer> open(int streams, KeyedStateHandle... handles)
      throws Exception {
    Configuration config = TestSettings.ROOMY_INCREMENTAL.config();
    config.set(FasterOptions.UPLOAD_STREAMS, streams);
    config.set(FasterOptions.LOCAL_DIRECTORIES, List.of(local.toString()));
    if (backends == null) {
      backends = new TestBackends(config);
    }
    return backends.open(handles);
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
    assertThat(local).isEmptyDirectory();
  }

  /** Storage in a directory. Blocks each write until a given number of streams is open. */
  private final class Meeting extends FsCheckpointStreamFactory {
    private final CountDownLatch opened;
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private volatile int failsAt = Integer.MAX_VALUE;
    private final AtomicInteger writes = new AtomicInteger();

    Meeting(int streams) {
      super(
          LocalFileSystem.getSharedInstance(),
          new org.apache.flink.core.fs.Path(remote.toUri()),
          new org.apache.flink.core.fs.Path(remote.toUri()),
          0,
          4096);
      opened = new CountDownLatch(streams);
    }

    @Override
    public FsCheckpointStateOutputStream createCheckpointStateOutputStream(
        CheckpointedStateScope scope) {
      return new FsCheckpointStateOutputStream(
          getTargetPath(scope), LocalFileSystem.getSharedInstance(), 4096, 0) {
        private boolean isFirst = true;

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
          if (scope == CheckpointedStateScope.SHARED) {
            met();
          }
          super.write(bytes, from, length);
        }

        private void met() throws IOException {
          if (isFirst) {
            isFirst = false;
            most.accumulateAndGet(open.incrementAndGet(), Math::max);
            opened.countDown();
            await();
          }
          if (writes.incrementAndGet() == failsAt) {
            throw new IOException("injected");
          }
        }

        private void await() throws IOException {
          try {
            if (!opened.await(60, TimeUnit.SECONDS)) {
              throw new IOException("too few streams: missing=" + opened.getCount());
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
          }
        }

        @Override
        public synchronized org.apache.flink.runtime.state.StreamStateHandle closeAndGetHandle()
            throws IOException {
          open.decrementAndGet();
          return super.closeAndGetHandle();
        }
      };
    }
  }

  private static void load(FasterKeyedStateBackend<Integer> backend) throws Exception {
    ValueState<byte[]> state = IncrementalCheckpoints.state(backend);
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      state.update(value(key));
    }
  }

  private static byte[] value(int key) {
    byte[] value = new byte[VALUE_BYTES];
    for (int i = 0; i < value.length; i += 1_000) {
      value[i] = (byte) (key + i / 1_000);
    }
    return value;
  }

  private static void assertHolds(FasterKeyedStateBackend<Integer> backend) throws Exception {
    ValueState<byte[]> state = IncrementalCheckpoints.state(backend);
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      assertThat(state.value()).isEqualTo(value(key));
    }
  }

  private static RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint(
      FasterKeyedStateBackend<Integer> backend, Meeting files) throws Exception {
    return backend.snapshot(1, 1, files, CheckpointOptions.forCheckpointWithDefaultLocation());
  }

  private void uploadsAndRestores(int streams, int expectedAtATime) throws Exception {
    Meeting files = new Meeting(expectedAtATime);
    FasterKeyedStateBackend<Integer> backend = open(streams);
    load(backend);
    var snapshot = checkpoint(backend, files);
    snapshot.run();
    var handle = (IncrementalRemoteKeyedStateHandle) snapshot.get().getJobManagerOwnedSnapshot();

    assertThat(files.most).hasValue(expectedAtATime);
    assertThat(handle.getSharedState()).hasSizeBetween(4, 32);
    assertThat(handle.getSharedState())
        .extracting(HandleAndLocalPath::getLocalPath)
        .isSorted()
        .doesNotHaveDuplicates();
    // A file contains a head and a digest besides the log.
    assertThat(handle.getSharedState())
        .allMatch(each -> each.getHandle().getStateSize() < MOST_FILE_BYTES + (1 << 20));
    assertThat(handle.getCheckpointedSize()).isEqualTo(handle.getStateSize());
    backend.dispose();
    assertHolds(open(streams, handle));
  }

  @Test
  void asManyFilesAtATimeAsTheOptionSaysAndTheyRestore() throws Exception {
    uploadsAndRestores(3, 3);
  }

  @Test
  void oneStreamWritesOneFileAfterTheOther() throws Exception {
    uploadsAndRestores(1, 1);
  }

  @Test
  void aFailureLeavesNoFile() throws Exception {
    Meeting files = new Meeting(3);
    files.failsAt = 4_000;
    FasterKeyedStateBackend<Integer> backend = open(3);
    load(backend);
    var snapshot = checkpoint(backend, files);
    snapshot.run();
    assertThatThrownBy(snapshot::get).hasRootCauseMessage("injected");
    try (Stream<Path> left = Files.list(remote)) {
      assertThat(left).isEmpty();
    }
  }
}
