package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.sim.PowerCutFate;
import io.fasterkv.sim.SimulatedDisk;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The power is cut after every single step that the disk has taken, and the disk is left with all,
 * none or some of what was not forced, torn writes included. What is recovered is exactly a
 * checkpoint: the last one that was acknowledged, or the one that was under way. The seed is in the
 * test's name.
 */
class PowerCutTest {
  private static final int GENERATIONS = 3;
  private static final int CHECKPOINTS = 3;

  static LongStream seeds() {
    return Seeds.fresh(5);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void leavesExactlyACheckpoint(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Life life = new Life(new SimulatedDisk(), new HashMap<>(), seed);
    life.open();
    for (int generation = 0; generation < GENERATIONS; generation++) {
      life.work(random);
      life.close();
      life.cutEverywhere(random);
      SimulatedDisk left = life.disk.afterPowerCut(life.someStep(random), PowerCutFate.ALL);
      life = new Life(left, life.committed, seed);
      life.recover(random);
    }
    life.close();
    life.cutEverywhere(random);
  }

  /** A store on a disk, from its start to the power cut. */
  private static final class Life {
    private final SimulatedDisk disk;

    /** What each checkpoint holds that was there at the start, by its number. */
    private final Map<Long, Map<Integer, byte[]>> inherited;

    /** The same, from the moment on when the store was open; also one that is under way. */
    private final Map<Long, Map<Integer, byte[]>> committed;

    /** The newest checkpoint that was acknowledged, by the number of steps at that time. */
    private final NavigableMap<Integer, Long> acknowledged = new TreeMap<>();

    private final long seed;
    private Map<Integer, byte[]> model = new HashMap<>();
    private FasterStore store;
    private int openedAt;

    Life(SimulatedDisk disk, Map<Long, Map<Integer, byte[]>> inherited, long seed) {
      this.disk = disk;
      this.inherited = Map.copyOf(inherited);
      committed = new HashMap<>(inherited);
      this.seed = seed;
    }

    private static StoreConfig config(SimulatedDisk disk) {
      return StoreConfig.builder(disk.directory())
          .memoryBytes(1 << 20)
          .pageBytes(4096)
          .logMemoryBytes(16384)
          .indexBytes(1024)
          .segmentBytes(16384)
          .build();
    }

    void open() {
      store = FasterStore.open(config(disk));
    }

    /** Opens an older checkpoint now and then, which removes the newer ones. */
    void recover(SplittableRandom random) {
      long newest = CheckpointNames.newest(disk);
      long number = newest > 1 && random.nextBoolean() ? newest - 1 : newest;
      acknowledged.put(0, number);
      store = FasterStore.recover(config(disk), new CheckpointToken(number));
      openedAt = disk.steps();
      model = new HashMap<>(inherited.get(number));
    }

    void work(SplittableRandom random) {
      try (ModelDriver driver = new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)) {
        for (int i = 0; i < CHECKPOINTS; i++) {
          driver.someOperations(random.nextInt(120));
          committed.put(CheckpointNames.newest(disk) + 1, new HashMap<>(model));
          long number = store.checkpoint().number();
          acknowledged.put(disk.steps(), number);
        }
        driver.someOperations(random.nextInt(120));
      }
    }

    void close() {
      store.close();
    }

    int someStep(SplittableRandom random) {
      return random.nextInt(acknowledged.firstKey(), disk.steps() + 1);
    }

    void cutEverywhere(SplittableRandom random) {
      for (int step = 0; step <= disk.steps(); step++) {
        Map.Entry<Integer, Long> before = acknowledged.floorEntry(step);
        long oldest = before == null ? 0 : before.getValue();
        check(step, oldest, "all", PowerCutFate.ALL);
        check(step, oldest, "none", PowerCutFate.NONE);
        long fate = random.nextLong();
        check(step, oldest, "some " + fate, PowerCutFate.some(fate));
      }
    }

    private void check(int step, long oldest, String fateName, PowerCutFate fate) {
      String title = "seed " + seed + ", after step " + step + ", " + fateName;
      SimulatedDisk left = disk.afterPowerCut(step, fate);
      long newest = CheckpointNames.newest(left);
      assertThat(newest).as(title).isGreaterThanOrEqualTo(oldest);
      if (newest == 0) {
        assertThatThrownBy(() -> FasterStore.recover(config(left))).isInstanceOf(BadConfig.class);
        return;
      }
      try (FasterStore recovered = FasterStore.recover(config(left));
          ModelDriver driver =
              new ModelDriver(
                  recovered,
                  SessionMode.BLOCKING,
                  new SplittableRandom(seed),
                  (step < openedAt ? inherited : committed).get(newest),
                  seed)) {
        driver.checkAll();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(title + ", checkpoint " + newest + " of " + left.names(), e);
      }
    }
  }
}
