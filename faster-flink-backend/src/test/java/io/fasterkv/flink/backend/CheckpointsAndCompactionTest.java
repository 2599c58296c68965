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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that checkpoints do not compact a log that is short in relation to its live bytes. */
class CheckpointsAndCompactionTest extends IncrementalCheckpoints {
  private static final int CHECKPOINTS = 20;
  private static final int KEYS = 20_000;

  /** A fifth of the log is dead, and the whole log fits in memory. */
  @Tag("slow")
  @ParameterizedTest
  @EnumSource(names = {"ROOMY", "ROOMY_INCREMENTAL"})
  void checkpointsMoveNeitherBeginNorTailOfALogThatCouldBeCompacted(TestSettings settings)
      throws Exception {
    FasterKeyedStateBackend<Integer> backend = open(settings);
    put(backend, 0, KEYS, 1);
    take(backend, CheckpointType.CHECKPOINT);
    put(backend, 0, KEYS / 4, 2);
    take(backend, CheckpointType.CHECKPOINT);

    FasterStore store = backend.store();
    long begin = store.log().beginAddress();
    long tail = store.log().tailAddress();
    for (int i = 0; i < CHECKPOINTS; i++) {
      take(backend, i % 5 == 4 ? NATIVE : CheckpointType.CHECKPOINT);
    }
    assertThat(store.statistics().compaction().passes()).isZero();
    assertThat(store.log().beginAddress()).isEqualTo(begin);
    assertThat(store.log().tailAddress()).isEqualTo(tail);

    store.log().compact();
    assertThat(store.statistics().compaction().passes()).isPositive();
    assertThat(store.statistics().compaction().droppedBytes()).isGreaterThan((tail - begin) / 6);
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
