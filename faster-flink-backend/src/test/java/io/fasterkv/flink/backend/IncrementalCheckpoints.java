package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Opens backends in one directory, with incremental checkpoints that all complete. */
abstract class IncrementalCheckpoints {
  static final ValueStateDescriptor<byte[]> VALUE =
      new ValueStateDescriptor<>("value", BytePrimitiveArraySerializer.INSTANCE);
  static final KeyGroupRange ALL = KeyGroupRange.of(0, TestBackends.KEY_GROUPS - 1);
  static final int VALUE_BYTES = 100;

  @TempDir Path directory;

  final SharedFiles files = new SharedFiles();
  private final SharedStateRegistry registry = new SharedStateRegistryImpl(Runnable::run);
  TestBackends backends;
  long checkpoint;

  FasterKeyedStateBackend<Integer> open(TestSettings settings, KeyedStateHandle... of)
      throws Exception {
    if (backends == null) {
      backends = new TestBackends(settings, directory);
    }
    return backends.open(of);
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
    assertThat(directory).isEmptyDirectory();
  }

  static void put(FasterKeyedStateBackend<Integer> backend, int from, int until, int fill)
      throws Exception {
    put(backend, from, until, fill, VALUE_BYTES);
  }

  static void put(
      FasterKeyedStateBackend<Integer> backend, int from, int until, int fill, int bytes)
      throws Exception {
    ValueState<byte[]> state = state(backend);
    byte[] value = new byte[bytes];
    Arrays.fill(value, (byte) fill);
    for (int key = from; key < until; key++) {
      if (ModelStates.isOf(backend, key)) {
        backend.setCurrentKey(key);
        state.update(value);
      }
    }
  }

  static void assertHolds(FasterKeyedStateBackend<Integer> backend, int from, int until, int fill)
      throws Exception {
    ValueState<byte[]> state = state(backend);
    for (int key = from; key < until; key++) {
      if (ModelStates.isOf(backend, key)) {
        backend.setCurrentKey(key);
        assertThat(state.value()).hasSize(VALUE_BYTES).containsOnly(fill);
      }
    }
  }

  static ValueState<byte[]> state(FasterKeyedStateBackend<Integer> backend) throws Exception {
    return backend.getPartitionedState(
        VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, VALUE);
  }

  /** Takes a checkpoint, completes it, and notifies the backend. */
  IncrementalRemoteKeyedStateHandle take(FasterKeyedStateBackend<Integer> backend)
      throws Exception {
    IncrementalRemoteKeyedStateHandle handle = write(backend, CheckpointType.CHECKPOINT);
    handle.registerSharedStates(registry, checkpoint);
    backend.notifyCheckpointComplete(checkpoint);
    return handle;
  }

  IncrementalRemoteKeyedStateHandle write(
      FasterKeyedStateBackend<Integer> backend, SnapshotType type) throws Exception {
    return write(backend, type, files);
  }

  /** Writes a checkpoint to a given storage. */
  IncrementalRemoteKeyedStateHandle write(
      FasterKeyedStateBackend<Integer> backend, SnapshotType type, CheckpointStreamFactory storage)
      throws Exception {
    var future =
        backend.snapshot(
            ++checkpoint,
            1,
            storage,
            new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault()));
    future.run();
    return (IncrementalRemoteKeyedStateHandle) future.get().getJobManagerOwnedSnapshot();
  }

  long uploadedBytes() {
    return files.sharedBytes() + files.exclusiveBytes();
  }
}
