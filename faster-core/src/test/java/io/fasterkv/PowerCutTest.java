package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.CheckpointRequest;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.sim.PowerCutFate;
import io.fasterkv.sim.SimulatedDisk;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests a power failure after every single step of the disk, which keeps all, none or some of the
 * bytes that were not forced, including torn writes, with checkpoints of all kinds. The recovered
 * state is exactly a checkpoint: the last acknowledged one or the one in progress. The seed is in
 * the test's name.
 */
@Tag("long")
@Tag("seeds")
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

  /** A store on a disk, from its opening to the power cut. */
  private static final class Life {
    private final SimulatedDisk disk;

    /** The contents of each checkpoint that existed at the start, by its number. */
    private final Map<Long, Map<Integer, byte[]>> inherited;

    /** The contents of each checkpoint since the store was opened, including one in progress. */
    private final Map<Long, Map<Integer, byte[]>> committed;

    /** The newest acknowledged checkpoint after each number of steps. */
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

    /** Occasionally opens an older checkpoint, which removes the newer ones. */
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
          long number = store.checkpoints().take(request).number();
          if (CheckpointRequests.hasLog(request)) {
            acknowledged.put(disk.steps(), number);
          }
        }
        driver.someOperations(random.nextInt(120));
      }
    }

    /** Operations that reduce the log's storage. */
    private void keepHouse(ModelDriver driver, SplittableRandom random) {
      List<CheckpointToken> kept = store.checkpoints().list();
      kept = kept.stream().filter(token -> token.number() < newestAcknowledged()).toList();
      if (!kept.isEmpty() && random.nextBoolean()) {
        store.checkpoints().remove(kept.get(random.nextInt(kept.size())));
      }
      switch (random.nextInt(3)) {
        case 0 -> store.log().compact();
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
      // A life with index-only checkpoints runs to its end.
      int first = acknowledged.isEmpty() ? disk.steps() : acknowledged.firstKey();
      return random.nextInt(first, disk.steps() + 1);
    }

    /** The contents of the checkpoints on the disk after a step; a number may be used again. */
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
      // Another image of the disk after the same power cut, to recover any of its checkpoints.
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
