package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.api.config.StoreConfigBuilder;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.device.LogDevice;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.epoch.EpochUser;
import java.nio.file.Path;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests mergeable updates against a plain map, for both kinds of record, with values that show
 * which updates they received in which order. Pages are tiny, buckets few, most records are on
 * disk, and the fuzzy region is kept open; there are cuts, compaction, checkpoints and recovery.
 * The seed is in the test's name; {@code -Dfaster.seed=N} replays it.
 */
@Tag("seeds")
class MergeModelTest {
  private static final int STEPS = 15_000;
  private static final int LARGE_STEPS = 2_500;
  private static final int PAGE_BYTES = 4096;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(10);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    behavesAsAMap(seed, random, config(random, random.nextBoolean()), false);
  }

  /** Values of up to twelve pages, and updates that add up to five pages. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMapOfLargeValues(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    behavesAsAMap(seed, random, config(random, false), true);
  }

  private static void behavesAsAMap(
      long seed, SplittableRandom random, StoreConfig config, boolean isLarge) {
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    LogDevice device = new MemoryDevice();
    FasterStore store = FasterStore.open(config, device);
    try {
      new Run<>(store, MergeModel.open(store, mode, isLarge), random, config, mode)
          .with(isLarge)
          .go(device, seed);
    } finally {
      store.close();
    }
  }

  private StoreConfig config(SplittableRandom random, boolean isLong) {
    double[] fractions = {0, 0.25, 0.5, 0.9};
    StoreConfigBuilder builder =
        StoreConfig.builder(directory)
            .memoryBytes(2 << 20)
            .pageBytes(PAGE_BYTES)
            .logMemoryBytes((long) PAGE_BYTES << random.nextInt(2, 6))
            .indexBytes(64L << random.nextInt(2, 9))
            .segmentBytes(2 * PAGE_BYTES)
            .scratchBytes(1 << 20)
            .mutableFraction(fractions[random.nextInt(fractions.length)])
            .recordKind(isLong ? RecordKind.LONGS : RecordKind.SPANS)
            .deleteOnClose(random.nextBoolean());
    return (isLong ? builder.merge(new ChainHash()) : builder.merge(new BytesFunctions())).build();
  }

  private static final class Run<V> {
    private final SplittableRandom random;
    private final StoreConfig config;
    private final SessionMode mode;
    private int keys;
    private int steps = STEPS;
    private FasterStore store;
    private MergeModel<V> values;
    private int appended;

    Run(
        FasterStore store,
        MergeModel<V> values,
        SplittableRandom random,
        StoreConfig config,
        SessionMode mode) {
      this.store = store;
      this.values = values;
      this.random = random;
      this.config = config;
      this.mode = mode;
      keys = random.nextInt(3) == 0 ? 12 : 2000;
    }

    Run<V> with(boolean isLarge) {
      if (isLarge) {
        keys = Math.min(keys, 40);
        steps = LARGE_STEPS;
      }
      return this;
    }

    void go(LogDevice device, long seed) {
      String when = "seed " + seed;
      weighChains();
      for (int step = 0; step < steps; step++) {
        int dice = random.nextInt(steps == LARGE_STEPS ? 3_000 : 10_000);
        if (dice < 10) {
          values.checkCut(store, when);
        } else if (dice < 40) {
          fuzzyUpdates();
        } else if (dice < 60) {
          keepHouse(device, when);
        } else {
          operation(when);
        }
      }
      for (int key = 0; key < keys; key++) {
        values.check(key, when + ", key " + key);
      }
      // With more memory, all records may remain mutable.
      if (keys > 100 && config.logMemoryBytes() <= 8 * PAGE_BYTES) {
        assertThat(appended + values.appended()).as(when).isPositive();
      }
      StoreInvariants.check(store);
      values.close();
      store.close();
    }

    /** Makes compaction follow chains, read in sequence, or choose by cost. */
    private void weighChains() {
      double[] weights = {0, 1, 1000, Double.POSITIVE_INFINITY};
      Insides.compactor(store).weighChains(weights[random.nextInt(weights.length)]);
    }

    private void operation(String when) {
      int key = random.nextInt(keys);
      switch (random.nextInt(16)) {
        case 0 -> values.upsert(key, random.nextInt());
        case 1 -> values.delete(key);
        case 2, 3, 4 -> values.check(key, when + ", key " + key);
        default -> values.rmw(key, random.nextInt());
      }
    }

    /** While a thread is protected, recently mutable records are fuzzy: updates append deltas. */
    private void fuzzyUpdates() {
      int[] few = {random.nextInt(keys), random.nextInt(keys)};
      boolean isHeld = config.logMemoryBytes() >= 32 * PAGE_BYTES && config.mutableFraction() > 0;
      if (isHeld) {
        // So that the values are written again near the tail: one in eight updates that append to a
        // value on disk writes it whole, and would wait for the protected thread.
        store.log().cut().close();
      }
      for (int key : few) {
        values.upsert(key, random.nextInt());
      }
      if (!isHeld) {
        return;
      }
      EpochUser behind = Insides.engine(store).epochs().register();
      behind.protect();
      for (int fold = 0; fold < 3; fold++) {
        store.log().cut().close();
        for (int key : few) {
          // A few bytes that are merged: an update that appends no delta would wait.
          values.rmw(key, 16 * random.nextInt(1 << 20) + 3);
        }
      }
      behind.unprotect();
      behind.close();
    }

    private void keepHouse(LogDevice device, String when) {
      if (config.deleteOnClose()) {
        store.log().compact();
        return;
      }
      CheckpointToken token = store.checkpoints().take();
      Map<Integer, V> committed = values.copy();
      if (random.nextBoolean()) {
        for (int i = random.nextInt(50); i > 0; i--) {
          operation(when);
        }
        appended += values.appended();
        values.close();
        store.close();
        store = FasterStore.recover(config, token, device);
        weighChains();
        values = values.reopened(store, mode, committed);
        for (int key = 0; key < keys; key++) {
          values.check(key, when + ", recovered, key " + key);
        }
      }
    }
  }
}
