package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.CheckpointRequest;
import io.fasterkv.api.CheckpointToken;
import io.fasterkv.api.SessionMode;
import io.fasterkv.api.StoreConfig;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.sim.PowerCutFate;
import io.fasterkv.sim.SimulatedDisk;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The power is cut after every single step that the disk has taken, and the disk is left with all,
 * none or some of what was not forced, torn writes included, with checkpoints of all kinds. What is
 * recovered is exactly a checkpoint: the last one that was acknowledged, or the one that was under
 * way. The seed is in the test's name.
 */
class PowerCutTest {
  private static final int GENERATIONS = 3;
  private static final int CHECKPOINTS = 3;
  private static final int LARGE_ONE_IN = 30;

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
      int step = life.someStep(random);
      SimulatedDisk left = life.disk.afterPowerCut(step, PowerCutFate.ALL);
      life = new Life(left, life.statesAt(step), seed);
      if (CheckpointNames.recoverable(left).isEmpty()) {
        life.open();
      } else {
        life.recover(random);
      }
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
          .scratchBytes(256 << 10)
          .build();
    }

    void open() {
      store = FasterStore.open(config(disk));
    }

    /** Opens an older checkpoint now and then, which removes the newer ones. */
    void recover(SplittableRandom random) {
      List<Long> kept = CheckpointNames.recoverable(disk);
      long number = random.nextBoolean() ? kept.get(random.nextInt(kept.size())) : kept.getLast();
      acknowledged.put(0, number);
      store = FasterStore.recover(config(disk), new CheckpointToken(number));
      openedAt = disk.steps();
      model = new HashMap<>(inherited.get(number));
    }

    void work(SplittableRandom random) {
      try (ModelDriver driver =
          new ModelDriver(store, SessionMode.BLOCKING, random, model, seed)
              .withLargeValues(LARGE_ONE_IN)) {
        for (int i = 0; i < CHECKPOINTS; i++) {
          driver.someOperations(random.nextInt(120));
          keepHouse(driver, random);
          CheckpointRequest request = CheckpointRequests.random(random);
          committed.put(CheckpointNames.newest(disk) + 1, new HashMap<>(model));
          long number = store.checkpoint(request).number();
          if (CheckpointRequests.hasLog(request)) {
            acknowledged.put(disk.steps(), number);
          }
        }
        driver.someOperations(random.nextInt(120));
      }
    }

    /** What makes the log's storage smaller. */
    private void keepHouse(ModelDriver driver, SplittableRandom random) {
      List<CheckpointToken> kept = store.checkpoints();
      kept = kept.stream().filter(token -> token.number() < newestAcknowledged()).toList();
      if (!kept.isEmpty() && random.nextBoolean()) {
        store.removeCheckpoint(kept.get(random.nextInt(kept.size())));
      }
      switch (random.nextInt(3)) {
        case 0 -> store.compact();
        case 1 -> driver.truncate();
        default -> {}
      }
      driver.someOperations(random.nextInt(20));
    }

    private long newestAcknowledged() {
      return acknowledged.isEmpty() ? 0 : acknowledged.lastEntry().getValue();
    }

    void close() {
      store.close();
    }

    int someStep(SplittableRandom random) {
      // A life whose checkpoints were all of the index alone is gone through to its end.
      int first = acknowledged.isEmpty() ? disk.steps() : acknowledged.firstKey();
      return random.nextInt(first, disk.steps() + 1);
    }

    /** What the checkpoints on the disk hold after a step: a number may be used again. */
    Map<Long, Map<Integer, byte[]>> statesAt(int step) {
      return step < openedAt ? inherited : committed;
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
      List<Long> all = CheckpointNames.recoverable(left);
      long newest = all.isEmpty() ? 0 : all.getLast();
      assertThat(newest).as(title).isGreaterThanOrEqualTo(oldest);
      if (newest == 0) {
        assertThatThrownBy(() -> FasterStore.recover(config(left))).isInstanceOf(BadConfig.class);
        return;
      }
      // Another image of the same cut, to recover any checkpoint that it has.
      SimulatedDisk other = disk.afterPowerCut(step, fate);
      List<Long> kept = CheckpointNames.recoverable(other);
      if (!kept.isEmpty()) {
        check(step, title, kept.get(step % kept.size()), other);
      }
      check(step, title, newest, left);
    }

    private void check(int step, String title, long number, SimulatedDisk left) {
      try (FasterStore recovered = FasterStore.recover(config(left), new CheckpointToken(number));
          ModelDriver driver =
              new ModelDriver(
                  recovered,
                  SessionMode.BLOCKING,
                  new SplittableRandom(seed),
                  statesAt(step).get(number),
                  seed)) {
        driver.checkAll();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(title + ", checkpoint " + number + " of " + left.names(), e);
      }
    }
  }
}
