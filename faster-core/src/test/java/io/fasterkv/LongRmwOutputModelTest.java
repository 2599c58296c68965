package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.LongOutput;
import io.fasterkv.api.LongResult;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.session.SessionMode;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests what RMWs of longs return, against a plain map: the new value, or the functions' result for
 * both values; in memory and on disk, one by one, in batches and as stages. {@code -Dfaster.seed=N}
 * replays a seed.
 */
@Tag("seeds")
class LongRmwOutputModelTest {
  private static final int STEPS = 20_000;
  private static final int KEYS = 4_000;

  private final Map<Long, Long> model = new HashMap<>();
  private int pending;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(6);
  }

  /** Updaters add and multiply, so that a lost or repeated update is noticed. */
  private static class NewValue implements LongFunctions<LongConsumer> {
    @Override
    public long initialUpdater(long key, long input) {
      return input;
    }

    @Override
    public long updater(long key, long input, long oldValue) {
      return 31 * oldValue + input;
    }

    @Override
    public void completionCallback(Status status, long key, long value, LongConsumer context) {
      context.accept(value);
    }
  }

  private static final class OldAndNew extends NewValue implements LongOutput {
    @Override
    public long output(long key, long input, long oldValue, long newValue) {
      return 7 * oldValue + newValue + key;
    }
  }

  private StoreConfig config() {
    return StoreConfig.builder(directory)
        .recordKind(RecordKind.LONGS)
        .memoryBytes(256 << 10)
        .logMemoryBytes(32 << 10)
        .pageBytes(4096)
        .scratchBytes(64 << 10)
        .build();
  }

  /** Applies an update to the model; returns the update's output. */
  private long expected(long key, long input, boolean ownOutput) {
    Long old = model.get(key);
    long made = old == null ? input : 31 * old + input;
    model.put(key, made);
    return ownOutput ? 7 * (old == null ? 0 : old) + made + key : made;
  }

  private static NewValue functions(boolean ownOutput) {
    return ownOutput ? new OldAndNew() : new NewValue();
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void updatesReturnTheirOutput(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    boolean own = random.nextBoolean();
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    try (FasterStore store = FasterStore.open(config());
        LongSession<LongConsumer> session = store.newSession().mode(mode).longs(functions(own))) {
      for (int step = 0; step < STEPS; step++) {
        String at = "seed " + seed + ", step " + step;
        long key = random.nextInt(random.nextBoolean() ? 50 : KEYS);
        long input = random.nextInt();
        if (random.nextInt(10) == 0) {
          session.completePending(true);
          session.delete(key, value -> {});
          session.completePending(true);
          model.remove(key);
          continue;
        }
        LongConsumer check =
            output -> assertThat(output).as(at).isEqualTo(expected(key, input, own));
        if (session.rmw(key, input, check) == Status.PENDING) {
          assertThat(session.value()).as(at).isZero();
          pending++;
        } else {
          check.accept(session.value());
        }
      }
    }
    assertThat(pending > 0).isEqualTo(mode == SessionMode.PENDING);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void batchesReturnTheirOutputs(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    boolean own = random.nextBoolean();
    try (FasterStore store = FasterStore.open(config());
        LongSession<LongConsumer> session = store.newSession().longs(functions(own))) {
      for (int step = 0; step < STEPS / 50; step++) {
        int count = random.nextInt(1, 150);
        long[] keys = random.longs(count, 0, random.nextBoolean() ? 50 : KEYS).toArray();
        long[] inputs = random.longs(count).toArray();
        long[] outputs = new long[count];
        Status[] statuses = new Status[count];
        assertThat(session.rmw(keys, inputs, outputs, statuses, count, null)).isZero();
        // Updates of one key take effect in their order, so the model's order is right.
        for (int i = 0; i < count; i++) {
          assertThat(outputs[i])
              .as("seed %d, step %d, %s", seed, step, statuses[i])
              .isEqualTo(expected(keys[i], inputs[i], own));
        }
      }
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void stagesReturnTheirOutput(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    boolean own = random.nextBoolean();
    try (var executor = Executors.newSingleThreadExecutor();
        FasterStore store = FasterStore.open(config());
        var session = store.newSession().asyncLongs(functions(own), executor)) {
      for (int step = 0; step < STEPS / 2; step++) {
        long key = random.nextInt(KEYS);
        long input = random.nextInt();
        var stage = session.rmw(key, input).toCompletableFuture();
        pending += stage.isDone() ? 0 : 1;
        LongResult result = stage.join();
        assertThat(result.value())
            .as("seed %d, step %d, %s", seed, step, result)
            .isEqualTo(expected(key, input, own));
      }
    }
    assertThat(pending).isPositive();
  }
}
