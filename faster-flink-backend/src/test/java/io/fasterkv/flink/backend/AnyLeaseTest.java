package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import io.fasterkv.flink.config.FasterOptions;
import io.fasterkv.flink.config.TimerPlace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.RunnableFuture;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.VoidNamespace;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Any snapshot restores into a store of any memory, at any parallelism. {@code -Dleases=all} runs
 * every pair of leases; without it, a part of them that the seed chooses.
 */
class AnyLeaseTest {
  private static final List<Integer> MEBIBYTES = List.of(1, 4, 16, 64, 256);
  private static final List<SnapshotType> TYPES =
      List.of(
          CheckpointType.CHECKPOINT,
          CheckpointType.CHECKPOINT,
          CheckpointType.FULL_CHECKPOINT,
          SavepointType.savepoint(SavepointFormatType.NATIVE),
          SavepointType.savepoint(SavepointFormatType.CANONICAL));
  private static final int PARTS = 3;
  private static final int LONG_KEYS = 60;
  private static final int LONG_UPDATES = 4_000;

  @TempDir Path directory;

  private record Pair(int before, int after) {}

  private Configuration config(int mebibytes, boolean incremental, TimerPlace timers) {
    return new Configuration()
        .set(FasterOptions.FIXED_MEMORY, MemorySize.ofMebiBytes(mebibytes))
        .set(FasterOptions.LOCAL_DIRECTORIES, List.of(directory.toString()))
        .set(FasterOptions.TIMERS, timers)
        .set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, incremental);
  }

  private Configuration config(int mebibytes) {
    return config(mebibytes, true, TimerPlace.STORE);
  }

  /** With the least memory a value of 1 MiB is as long as all of it. */
  @Test
  void anIncrementalCheckpointOfALargeLeaseRestoresIntoTheSmallest() throws Exception {
    byte[] value = Seeds.bytes(new SplittableRandom(1), LongKeyModel.MOST_VALUE_BYTES);
    List<KeyedStateHandle> handles;
    try (LongKeyBackends large = LongKeyBackends.open(config(256), 1, List.of())) {
      FasterKeyedStateBackend<String> backend = large.of("key");
      backend.setCurrentKey("key");
      LongKeyModel.state(backend, LongKeyModel.VALUE).update(value);
      handles = large.snapshot(CheckpointType.CHECKPOINT);
    }
    try (LongKeyBackends small = LongKeyBackends.open(config(1), 1, handles)) {
      FasterKeyedStateBackend<String> backend = small.of("key");
      assertThat(backend.store().memoryBytes()).isLessThanOrEqualTo(1 << 20);
      backend.setCurrentKey("key");
      assertThat(LongKeyModel.state(backend, LongKeyModel.VALUE).value()).isEqualTo(value);
    }
  }

  /** The limit is the same in each, so that no store accepts a key that another refuses. */
  @Test
  void aKeyThatIsTooLongIsRefusedByEveryLeaseWithTheSameLimit() throws Exception {
    String key = "k".repeat(33 << 10);
    for (int mebibytes : List.of(1, 256)) {
      try (LongKeyBackends backends = LongKeyBackends.open(config(mebibytes), 1, List.of())) {
        FasterKeyedStateBackend<String> backend = backends.of(key);
        backend.setCurrentKey(key);
        var state = LongKeyModel.state(backend, LongKeyModel.VALUE);
        assertThatThrownBy(() -> state.update(new byte[1]))
            .hasMessageContaining("a key is too long together with its namespace: bytes=")
            .hasMessageContaining("allowed=32768");
      }
    }
  }

  /** Compaction, a snapshot, a listing of keys and the task share the scratch memory. */
  @Test
  void theSmallestLeaseServesLongKeysWhileItCompactsAndTakesSnapshots() throws Throwable {
    Seeds.run(
        1,
        random -> {
          for (boolean incremental : new boolean[] {true, false}) {
            updateLongKeys(random, incremental);
          }
        });
  }

  private void updateLongKeys(SplittableRandom random, boolean incremental) throws Exception {
    try (LongKeyBackends backends =
        LongKeyBackends.open(config(1, incremental, TimerPlace.STORE), 1, List.of())) {
      FasterKeyedStateBackend<String> backend = backends.subtasks().getFirst();
      var state = LongKeyModel.state(backend, LongKeyModel.VALUE);
      Map<String, byte[]> expected = new HashMap<>();
      RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot = null;
      Thread writer = null;
      for (int i = 0; i < LONG_UPDATES; i++) {
        String key = random.nextInt(LONG_KEYS) + "k".repeat(LongKeyModel.MOST_KEY_BYTES);
        byte[] value = Seeds.bytes(random, random.nextInt(1, 20 << 10));
        backend.setCurrentKey(key);
        assertThat(state.value()).isEqualTo(expected.put(key, value));
        state.update(value);
        if (i % 400 == 0) {
          snapshot = TestBackends.start(backend, TestBackends.inMemory());
          writer = new Thread(snapshot);
          writer.start();
        } else if (i % 400 == 100) {
          try (Stream<String> keys = backend.getKeys("value", VoidNamespace.INSTANCE)) {
            assertThat(keys.count()).isEqualTo(expected.size());
          }
        } else if (i % 400 == 399) {
          writer.join();
          snapshot.get();
        }
      }
    }
  }

  @Test
  void everySnapshotRestoresIntoEveryLease() throws Throwable {
    boolean all = "all".equals(System.getProperty("leases"));
    Seeds.run(
        1,
        random -> {
          List<Pair> pairs = pairs(random);
          for (Pair pair : all ? pairs : pairs.subList(0, pairs.size() / 5)) {
            restores(pair, random);
          }
        });
    try (var left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }

  /** The largest into the smallest, and back, come first. */
  private static List<Pair> pairs(SplittableRandom random) {
    List<Pair> pairs = new ArrayList<>();
    for (int before : MEBIBYTES) {
      for (int after : MEBIBYTES) {
        pairs.add(new Pair(before, after));
      }
    }
    Collections.shuffle(pairs, new Random(random.nextLong()));
    pairs.sort((one, other) -> Boolean.compare(isExtreme(other), isExtreme(one)));
    return pairs;
  }

  private static boolean isExtreme(Pair pair) {
    return Math.abs(pair.before() - pair.after()) == 255;
  }

  /**
   * One store's lease changes, and changes back; each life continues from the previous snapshot.
   */
  private void restores(Pair pair, SplittableRandom random) throws Exception {
    LongKeyModel model = new LongKeyModel(random);
    List<KeyedStateHandle> handles = List.of();
    int[] leases = {pair.before(), pair.after(), pair.before()};
    for (int life = 0; life < leases.length; life++) {
      SnapshotType type = TYPES.get(random.nextInt(TYPES.size()));
      boolean incremental = random.nextInt(4) > 0;
      TimerPlace timers = random.nextInt(3) == 0 ? TimerPlace.HEAP : TimerPlace.STORE;
      int parallelism = 1 + random.nextInt(3);
      String told =
          pair
              + ", life="
              + life
              + ", parallelism="
              + parallelism
              + ", then "
              + type
              + " "
              + incremental;
      try (LongKeyBackends backends =
          LongKeyBackends.open(config(leases[life], incremental, timers), parallelism, handles)) {
        model.check(backends);
        for (int part = 0; part < PARTS; part++) {
          model.change(backends, 80);
          handles = backends.snapshot(type);
        }
        model.check(backends);
      } catch (Exception | AssertionError e) {
        throw new AssertionError(told, e);
      }
    }
    try (LongKeyBackends backends = LongKeyBackends.open(config(pair.after()), 2, handles)) {
      model.check(backends);
    }
  }
}
