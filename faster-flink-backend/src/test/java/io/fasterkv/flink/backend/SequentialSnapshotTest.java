package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.StoreInsides;
import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.TestSettings;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SavepointResources;
import org.apache.flink.runtime.state.SavepointSnapshotStrategy;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategyRunner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that snapshots of state ten times as large as memory read the log sequentially: no record
 * is looked up on disk by its key.
 */
class SequentialSnapshotTest {
  private static final ValueStateDescriptor<byte[]> VALUE =
      new ValueStateDescriptor<>("value", BytePrimitiveArraySerializer.INSTANCE);
  private static final ListStateDescriptor<byte[]> LIST =
      new ListStateDescriptor<>("list", BytePrimitiveArraySerializer.INSTANCE);
  private static final MapStateDescriptor<Integer, byte[]> MAP =
      new MapStateDescriptor<>(
          "map", IntSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE);
  private static final int KEYS = 1_000;
  private static final int BYTES = 2_000;
  private static final int PARTS = 40;

  @TempDir Path directory;

  private TestBackends backends;
  private FasterKeyedStateBackend<Integer> backend;
  private long written;

  @BeforeEach
  void fill() throws Exception {
    backends = new TestBackends(TestSettings.TINY, directory);
    backend = backends.open();
    ValueState<byte[]> value = ModelStates.state(backend, VALUE);
    ListState<byte[]> list = ModelStates.state(backend, LIST);
    MapState<Integer, byte[]> map = ModelStates.state(backend, MAP);
    SplittableRandom random = new SplittableRandom(3);
    for (int key = 0; key < KEYS; key++) {
      backend.setCurrentKey(key);
      value.update(random(random, BYTES));
      for (int part = 0; part < PARTS; part++) {
        list.add(random(random, BYTES / 20));
        map.put(part, random(random, BYTES / 20));
      }
    }
    assertThat(written).isGreaterThan(9L << 20);
    // Background compaction also follows chains on disk.
    StoreInsides.stopBackgroundCompaction(backend.store());
  }

  private byte[] random(SplittableRandom random, int bytes) {
    written += bytes;
    return Seeds.bytes(random, bytes);
  }

  @AfterEach
  void close() throws Exception {
    backends.close();
  }

  @Tag("slow")
  @Test
  void aCanonicalSavepointLooksForNothing() throws Exception {
    long before = fromDisk();
    KeyedStateHandle savepoint = TestBackends.finish(canonicalSavepoint());
    assertThat(fromDisk()).isEqualTo(before);
    assertThat(savepoint.getStateSize()).isGreaterThan(written);
    readsOfKeysAreCounted();
  }

  private RunnableFuture<SnapshotResult<KeyedStateHandle>> canonicalSavepoint() throws Exception {
    SavepointResources<Integer> resources = backend.savepoint();
    return new SnapshotStrategyRunner<>(
            "savepoint",
            new SavepointSnapshotStrategy<>(resources.getSnapshotResources()),
            new CloseableRegistry(),
            resources.getPreferredSnapshotExecutionType())
        .snapshot(
            1,
            1,
            TestBackends.inMemory(),
            new CheckpointOptions(
                SavepointType.savepoint(SavepointFormatType.CANONICAL),
                CheckpointStorageLocationReference.getDefault()));
  }

  @Test
  void aFullCheckpointLooksForNothing() throws Exception {
    long before = fromDisk();
    KeyedStateHandle checkpoint = TestBackends.snapshot(backend);
    assertThat(fromDisk()).isEqualTo(before);
    assertThat(checkpoint.getStateSize()).isGreaterThan(written);
    readsOfKeysAreCounted();
  }

  /** Shows that the assertions above could have failed. */
  private void readsOfKeysAreCounted() throws Exception {
    long before = fromDisk();
    for (int key = 0; key < KEYS / 2; key++) {
      backend.setCurrentKey(key);
      assertThat(ModelStates.state(backend, VALUE).value()).hasSize(BYTES);
    }
    assertThat(fromDisk() - before).isGreaterThanOrEqualTo(KEYS / 2);
  }

  private long fromDisk() {
    return backend.store().statistics().index().recordsFromDisk();
  }
}
