package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.RecoveryRequest;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.file.FileDevice;
import io.fasterkv.device.memory.MemoryDevice;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests one store through many lives. Each life has a few operations or none, up to two checkpoints
 * of some kind, a crash, a recovery with another amount of memory, with or without the index image,
 * and then a read of all keys. The tail is nearly always in the middle of a page, and reads are in
 * progress when checkpoints are taken.
 */
@Tag("seeds")
class GenerationsTest {
  private static final int GENERATIONS = 60;
  private static final int LARGE_ONE_IN = 20;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void eachGenerationFindsWhatTheLastOneCommitted(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    MemoryDevice memory = random.nextBoolean() ? new MemoryDevice() : null;
    int pageBytes = 4096 << random.nextInt(memory == null ? 1 : 0, 3);
    long indexBytes = 64L << random.nextInt(2, 8);
    Map<Integer, byte[]> committed = new HashMap<>();
    long recoverable = 0;
    for (int generation = 0; generation < GENERATIONS; generation++) {
      StoreConfig config =
          StoreConfig.builder(directory)
              .memoryBytes(1 << 20)
              .pageBytes(pageBytes)
              .logMemoryBytes((long) pageBytes << random.nextInt(2, 4))
              // Grows with the generations: overflow buckets in use must still exist.
              .indexBytes(indexBytes + generation / 20 * 128L)
              .scratchBytes(512 << 10)
              .segmentBytes(32768)
              .mutableFraction(random.nextInt(3) / 2.0)
              .build();
      LogDevice device = memory != null ? memory : new FileDevice(directory, config.segmentBytes());
      Map<Integer, byte[]> model = new HashMap<>(committed);
      // Checkpoints after the one that is recovered are removed.
      long newest = recoverable;
      SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
      try (FasterStore store =
              recoverable == 0
                  ? FasterStore.open(config, device)
                  : FasterStore.recover(config, request(recoverable, random), device);
          ModelDriver driver =
              new ModelDriver(store, mode, random, model, seed).withLargeValues(LARGE_ONE_IN);
          var pending = store.newSession().mode(SessionMode.PENDING).spans(new BytesFunctions())) {
        if (recoverable != 0) {
          driver.checkAll();
          StoreInvariants.check(store);
        }
        for (int i = random.nextInt(3); i > 0; i--) {
          driver.someOperations(random.nextInt(4) == 0 ? 0 : random.nextInt(150));
          for (int key = 0; key < 40; key++) {
            pending.read(ModelDriver.key(key), null, new BytesFunctions.Result(), null);
          }
          CheckpointRequest request = CheckpointRequests.random(random);
          long number = store.checkpoints().take(request).number();
          assertThat(number).as("seed " + seed).isEqualTo(newest + 1);
          newest = number;
          if (CheckpointRequests.hasLog(request)) {
            recoverable = number;
            committed = new HashMap<>(model);
          }
          removeOne(store, recoverable, random);
        }
        driver.someOperations(random.nextInt(60));
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ", generation " + generation, e);
      }
    }
  }

  private static RecoveryRequest request(long number, SplittableRandom random) {
    RecoveryRequest request =
        random.nextBoolean()
            ? RecoveryRequest.of(new CheckpointToken(number))
            : RecoveryRequest.newest();
    return random.nextInt(4) == 0 ? request.withoutIndex() : request;
  }

  /** Other checkpoints may build on the removed one. */
  private static void removeOne(FasterStore store, long recoverable, SplittableRandom random) {
    List<CheckpointToken> kept = store.checkpoints().list();
    CheckpointToken one = kept.get(random.nextInt(kept.size()));
    if (one.number() != recoverable && random.nextInt(3) == 0) {
      store.checkpoints().remove(one);
    }
  }
}
