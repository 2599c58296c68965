package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a backend that writes its log to the system's full device: it fails checkpoints and can be
 * closed.
 */
@Timeout(60)
class FullDiskBackendTest {
  private static final Path FULL = Path.of("/dev/full");

  @TempDir Path directory;

  private TestBackends backends;
  private FasterKeyedStateBackend<Integer> backend;
  private ValueState<String> state;

  @BeforeEach
  void open() throws Exception {
    assumeThat(FULL).exists();
    backends = new TestBackends(TestSettings.TINY_INCREMENTAL, directory);
    backend = backends.open();
    Files.createSymbolicLink(backend.store().config().directory().resolve("log.0"), FULL);
    state =
        backend.getPartitionedState(
            VoidNamespace.INSTANCE,
            VoidNamespaceSerializer.INSTANCE,
            new ValueStateDescriptor<>("value", String.class));
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
    assertThat(directory).isEmptyDirectory();
  }

  private void put(int from, int until) throws Exception {
    for (int key = from; key < until; key++) {
      backend.setCurrentKey(key);
      state.update("value " + key);
    }
  }

  @Test
  void aCheckpointFailsAndTheTaskContinues() throws Exception {
    for (int i = 0; i < 3; i++) {
      put(100 * i, 100 * (i + 1));
      RunnableFuture<SnapshotResult<KeyedStateHandle>> checkpoint =
          TestBackends.start(backend, TestBackends.inMemory());
      checkpoint.run();
      assertThatThrownBy(checkpoint::get)
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOf(DiskFull.class)
          .hasMessageContaining("file=" + directory)
          .hasMessageContaining("No space left on device");
    }
    for (int key = 0; key < 300; key++) {
      backend.setCurrentKey(key);
      assertThat(state.value()).isEqualTo("value " + key);
    }
  }

  /** As in Flink, another thread closes the backend, and then the task disposes of it. */
  @Tag("slow")
  @Test
  void aTaskThatIsCancelledDoesNotWaitForSpace() throws Exception {
    CompletableFuture<Void> task =
        CompletableFuture.runAsync(() -> {
          try {
            put(0, Integer.MAX_VALUE);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    assertThatThrownBy(() -> task.get(2, TimeUnit.SECONDS))
        .as("the task waits for space")
        .isInstanceOf(java.util.concurrent.TimeoutException.class);
    backend.close();
    assertThatThrownBy(() -> task.get(30, TimeUnit.SECONDS))
        .hasStackTraceContaining(DeviceFailed.class.getName())
        .hasStackTraceContaining("No space left on device");
    backend.dispose();
  }
}
