package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.config.StoreConfig;
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
 * Tests random operations and cuts against a plain map while the index is doubled and halved,
 * starting with two buckets, with compaction, checkpoints and recovery in between. Chains share
 * tails on disk, join in forks, and separate again. The seed is in the test's name; {@code
 * -Dfaster.seed=N} replays it.
 */
@Tag("seeds")
class IndexResizeModelTest {
  private static final int STEPS = 12_000;
  private static final int MAX_DOUBLINGS = 6;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(16);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void behavesAsAMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    boolean isTemporary = random.nextBoolean();
    StoreConfig config = config(random, isTemporary);
    SessionMode mode = random.nextBoolean() ? SessionMode.BLOCKING : SessionMode.PENDING;
    Map<Integer, byte[]> model = new HashMap<>();
    FasterStore store = FasterStore.open(config);
    try {
      ModelDriver driver = new ModelDriver(store, mode, random, model, seed);
      int doublings = 0;
      for (int step = 0; step < STEPS; step++) {
        int dice = random.nextInt(10_000);
        if (dice < 60) {
          boolean grow = doublings == 0 || (doublings < MAX_DOUBLINGS && random.nextBoolean());
          doublings += resize(store, grow, seed);
        } else if (dice < 80) {
          driver.checkCut();
        } else if (dice < 100 && isTemporary) {
          store.log().compact();
        } else if (dice < 90) {
          store.checkpoints().take();
          driver.close();
          store.close();
          store = FasterStore.recover(config);
          driver = new ModelDriver(store, mode, random, model, seed);
          StoreInvariants.check(store);
        } else {
          driver.operation();
        }
      }
      driver.checkAll();
      StoreInvariants.check(store);
      driver.close();
    } finally {
      store.close();
    }
  }

  private static int resize(FasterStore store, boolean grow, long seed) {
    long before = store.statistics().memoryBytes();
    long bytes = grow ? store.index().grow() : store.index().shrink();
    long difference = store.statistics().memoryBytes() - before;
    assertThat(difference).as("seed " + seed).isEqualTo(grow ? bytes / 2 : -bytes);
    StoreInvariants.check(store);
    return grow ? 1 : -1;
  }

  private StoreConfig config(SplittableRandom random, boolean isTemporary) {
    return StoreConfig.builder(directory)
        .memoryBytes(1 << 20)
        .pageBytes(4096)
        .logMemoryBytes(4096L << random.nextInt(2, 5))
        .indexBytes(new long[] {4 * 64, 8 * 64, 12 * 64, 16 * 64}[random.nextInt(4)])
        .segmentBytes(16384)
        .mutableFraction(random.nextInt(4) / 4.0)
        .deleteOnClose(isTemporary)
        .build();
  }
}
