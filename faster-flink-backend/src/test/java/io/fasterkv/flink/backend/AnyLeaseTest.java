package io.fasterkv.flink.backend;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that any snapshot can be restored to a store with any memory, at any parallelism. {@code
 * -Dleases=all} runs every pair of leases; by default the seed selects some.
 */
@Tag("seeds")
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
  private static final int LONG_KEY_BYTES = 16 << 10;
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

  /** In the smallest lease, a value of 1 MiB takes as many bytes as the store has memory. */
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
      assertThat(backend.store().statistics().memoryBytes()).isLessThanOrEqualTo(1 << 20);
      backend.setCurrentKey("key");
      assertThat(LongKeyModel.state(backend, LongKeyModel.VALUE).value()).isEqualTo(value);
    }
  }

  /** In the smallest lease, the key is as long as the store's memory. */
  @Test
  void everyLeaseTakesKeysAndNamespacesOfAnyLength() throws Exception {
    String text = "k".repeat(1 << 20);
    List<KeyedStateHandle> handles = List.of();
    for (int mebibytes : List.of(1, 256, 1)) {
      try (LongKeyBackends backends = LongKeyBackends.open(config(mebibytes), 1, handles)) {
        FasterKeyedStateBackend<String> backend = backends.of(text);
        for (String key : List.of(text, "short")) {
          for (String namespace : List.of(text, "")) {
            byte[] value = (key.length() + " " + namespace.length()).getBytes(UTF_8);
            backend.setCurrentKey(key);
            var state = LongKeyModel.state(backend, namespace, LongKeyModel.VALUE);
            assertThat(state.value()).isEqualTo(handles.isEmpty() ? null : value);
            state.update(value);
          }
        }
        handles = backends.snapshot(CheckpointType.CHECKPOINT);
      }
    }
  }

  /** Compaction, a snapshot, a listing of keys and the task thread share the scratch memory. */
  @Tag("slow")
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
      Map<String, byte[]> expectedThen = Map.of();
      Thread writer = null;
      for (int i = 0; i < LONG_UPDATES; i++) {
        String key = random.nextInt(LONG_KEYS) + "k".repeat(LONG_KEY_BYTES);
        byte[] value = Seeds.bytes(random, random.nextInt(1, 20 << 10));
        backend.setCurrentKey(key);
        assertThat(state.value()).isEqualTo(expected.put(key, value));
        state.update(value);
        if (i % 400 == 0) {
          expectedThen = Map.copyOf(expected);
          snapshot = TestBackends.start(backend, TestBackends.inMemory());
          writer = new Thread(snapshot);
          writer.start();
        } else if (i % 400 == 100) {
          try (Stream<String> keys = backend.getKeys("value", "")) {
            assertThat(keys.count()).isEqualTo(expected.size());
          }
        } else if (i % 400 == 399) {
          writer.join();
          checkValues(TestBackends.finish(snapshot), expectedThen);
        }
      }
    }
  }

  private void checkValues(KeyedStateHandle snapshot, Map<String, byte[]> expected)
      throws Exception {
    try (LongKeyBackends restored = LongKeyBackends.open(config(4), 1, List.of(snapshot))) {
      FasterKeyedStateBackend<String> backend = restored.subtasks().getFirst();
      var state = LongKeyModel.state(backend, LongKeyModel.VALUE);
      for (Map.Entry<String, byte[]> entry : expected.entrySet()) {
        backend.setCurrentKey(entry.getKey());
        assertThat(state.value()).isEqualTo(entry.getValue());
      }
      try (Stream<String> keys = backend.getKeys("value", "")) {
        assertThat(keys).containsExactlyInAnyOrderElementsOf(expected.keySet());
      }
    }
  }

  @Test
  @Tag("long")
  void everySnapshotRestoresIntoEveryLease() throws Throwable {
    boolean all = "all".equals(System.getProperty("leases"));
    Seeds.run(
        1,
        random -> {
          List<Pair> pairs = pairs(random);
          for (Pair pair : all ? pairs : pairs.subList(0, Seeds.part(pairs.size() / 5))) {
            restores(pair, random);
          }
        });
    try (var left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }

  /** All pairs of leases. The pairs of the largest and the smallest lease come first. */
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
   * Restores with another lease and then with the first one again, each time from the last
   * snapshot.
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
      String reported =
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
          LongKeyBackends.open(
              config(leases[life], incremental, timers), parallelism, handles, model.time())) {
        model.check(backends);
        for (int part = 0; part < PARTS; part++) {
          model.change(backends, 80);
          handles = backends.snapshot(type);
        }
        model.check(backends);
      } catch (Exception | AssertionError e) {
        throw new AssertionError(reported, e);
      }
    }
    try (LongKeyBackends backends =
        LongKeyBackends.open(config(pair.after()), 2, handles, model.time())) {
      model.check(backends);
    }
  }
}
