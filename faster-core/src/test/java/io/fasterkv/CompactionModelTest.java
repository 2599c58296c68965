package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests random operations and cuts against a plain map while the log is compacted, on request and
 * in the background. There are few buckets, so chains are long and contain many keys. The seed is
 * in the test's name; {@code -Dfaster.seed=N} replays it.
 */
@Tag("seeds")
class CompactionModelTest {
  private static final int STEPS = 12_000;
  private static final int PAGE_BYTES = 4096;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(8);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    Map<Integer, byte[]> model = new HashMap<>();
    boolean inBackground = random.nextBoolean();
    try (FasterStore store = FasterStore.open(config(random, inBackground));
        ModelDriver driver = new ModelDriver(store, mode, random, model, seed)) {
      weighChains(store, random);
      for (int step = 0; step < STEPS; step++) {
        int dice = random.nextInt(10_000);
        if (dice < 30 && !inBackground) {
          store.log().compact();
        } else if (dice < 60) {
          driver.checkCut();
        } else if (dice < 65 && !inBackground) {
          // Dropping the oldest part of a value changes it, and the model does not know by how
          // much.
          if (store.config().merge() == null) {
            driver.truncate();
          }
        } else {
          driver.operation();
        }
      }
      driver.checkAll();
      if (!inBackground) {
        StoreInvariants.check(store);
      }
    }
    assertThat(directory).as("seed " + seed).isEmptyDirectory();
  }

  /** Only live data: each run copies it once, and the log does not grow from run to run. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void keepsAFullyLiveLogAtItsSize(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Integer, byte[]> model = new HashMap<>();
    try (FasterStore store = FasterStore.open(config(random, false));
        ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)) {
      weighChains(store, random);
      driver.upsertAll();
      store.log().cut().close();
      store.log().compact();
      long afterFirst = store.statistics().logBytes();
      for (int pass = 0; pass < 5; pass++) {
        store.log().cut().close();
        store.log().compact();
        assertThat(store.statistics().logBytes())
            .as("seed " + seed)
            .isLessThanOrEqualTo(afterFirst + 4 * PAGE_BYTES);
      }
      driver.checkAll();
      StoreInvariants.check(store);
    }
  }

  /** Makes compaction follow chains, read in sequence, or choose by cost. */
  private static void weighChains(FasterStore store, SplittableRandom random) {
    double[] weights = {0, 1, 1000, Double.POSITIVE_INFINITY};
    Insides.compactor(store).weighChains(weights[random.nextInt(weights.length)]);
  }

  private StoreConfig config(SplittableRandom random, boolean inBackground) {
    StoreConfigBuilder config =
        StoreConfig.builder(directory)
            .memoryBytes(1 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes((long) PAGE_BYTES << random.nextInt(2, 5))
            .indexBytes(64L << random.nextInt(2, 9))
            .segmentBytes(2 * PAGE_BYTES)
            .mutableFraction(0.5)
            .deleteOnClose(true)
            // Background runs have buffers of their own besides those of cuts and pending reads.
            .scratchBytes(inBackground ? 128 << 10 : 64 << 10)
            .backgroundCompaction(inBackground);
    return (random.nextBoolean() ? config.merge(new BytesFunctions()) : config).build();
  }
}
