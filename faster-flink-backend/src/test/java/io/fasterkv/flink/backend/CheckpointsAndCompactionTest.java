package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.flink.TestSettings;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** No checkpoint makes compaction run. */
class CheckpointsAndCompactionTest extends IncrementalCheckpoints {
  private static final int CHECKPOINTS = 20;
  private static final int KEYS = 20_000;

  /** Half of the log is dead, but all of it fits memory, where compaction leaves it alone. */
  @ParameterizedTest
  @EnumSource(names = {"ROOMY", "ROOMY_INCREMENTAL"})
  void checkpointsMoveNeitherBeginNorTailOfALogThatCouldBeCompacted(TestSettings settings)
      throws Exception {
    FasterKeyedStateBackend<Integer> backend = open(settings);
    put(backend, 0, KEYS, 1);
    take(backend, CheckpointType.CHECKPOINT);
    put(backend, 0, KEYS, 2);
    take(backend, CheckpointType.CHECKPOINT);

    FasterStore store = backend.store();
    long begin = store.beginAddress();
    long tail = store.tailAddress();
    for (int i = 0; i < CHECKPOINTS; i++) {
      take(backend, i % 5 == 4 ? NATIVE : CheckpointType.CHECKPOINT);
    }
    assertThat(store.compactionStats().passes()).isZero();
    assertThat(store.beginAddress()).isEqualTo(begin);
    assertThat(store.tailAddress()).isEqualTo(tail);

    store.compact();
    assertThat(store.compactionStats().passes()).isPositive();
    assertThat(store.compactionStats().droppedBytes()).isGreaterThan((tail - begin) / 3);
  }

  private static final SnapshotType NATIVE = SavepointType.savepoint(SavepointFormatType.NATIVE);

  private void take(FasterKeyedStateBackend<Integer> backend, SnapshotType type) throws Exception {
    TestBackends.finish(
        backend.snapshot(
            ++checkpoint,
            1,
            files,
            new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault())));
    backend.notifyCheckpointComplete(checkpoint);
  }
}
