package io.fasterkv.cpr;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.CheckpointNames;
import io.fasterkv.Seeds;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.cpr.CprStore.Commit;
import io.fasterkv.sim.DiskFaults;
import io.fasterkv.sim.PowerCutFate;
import io.fasterkv.sim.SimulatedDisk;
import java.util.ArrayList;
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
 * bytes that were not forced, including torn writes, with checkpoints of every kind and concurrent
 * sessions. Every session is recovered with one prefix, no shorter than that in the last
 * acknowledged checkpoint. The seed is in the test's name.
 */
@Tag("long")
@Tag("seeds")
class PrefixPowerCutTest {
  private static final int GENERATIONS = 3;
  private static final int CHECKPOINTS = 3;
  private static final int STEPS = 120;

  /** Operations in the middle of a checkpoint, so few that they need no page of their own. */
  private static final int MEANWHILE = 8;

  static LongStream seeds() {
    return Seeds.fresh(3);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void leavesEverySessionOnePrefix(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Script script = new Script(seed, 1 + random.nextInt(3), 5 + random.nextInt(40));
    Lives lives = new Lives(script.sessions());
    Life life = new Life(new SimulatedDisk(), script, lives, random);
    for (int generation = 0; generation < GENERATIONS; generation++) {
      life.live(generation);
      life.cutEverywhere();
      int step = life.someStep();
      SimulatedDisk left = life.disk.afterPowerCut(step, PowerCutFate.ALL);
      life = new Life(left, script, life.livesAt(step), random);
    }
  }

  /** A store on a disk, from its opening to the power cut. */
  private static final class Life {
    private final SimulatedDisk disk;
    private final Script script;
    private final SplittableRandom random;
    private final Setup setup;

    /** The lives at the time the store was opened. */
    private final Lives inherited;

    private final Lives lives;

    /** The newest acknowledged checkpoint after each number of steps. */
    private final NavigableMap<Integer, Commit> acknowledged = new TreeMap<>();

    private int openedAt;
    private boolean isCommitting;

    Life(SimulatedDisk disk, Script script, Lives inherited, SplittableRandom random) {
      this.disk = disk;
      this.script = script;
      this.inherited = inherited;
      this.random = random;
      lives = new Lives(inherited);
      setup = new Setup(new SplittableRandom(script.seed()), disk.directory(), true);
    }

    void live(int generation) {
      try (CprStore store = open()) {
        openedAt = disk.steps();
        if (store.recovered().number() > 0) {
          acknowledged.put(0, store.recovered());
        }
        List<Worker> workers = new ArrayList<>();
        try {
          for (int session = 0; session < script.sessions(); session++) {
            lives.begin(generation, session, store.point(session));
            StampedSession named = store.anySession(session, random, setup.maxBytes());
            workers.add(new Worker(named, script, session, store.point(session), lives));
          }
          disk.setFaults(meanwhile(workers));
          for (int i = 0; i < CHECKPOINTS; i++) {
            advance(workers, random.nextInt(STEPS));
            keepHouse(store);
            Commit commit = commit(store, workers);
            acknowledged.put(disk.steps(), commit);
          }
          advance(workers, random.nextInt(STEPS));
        } finally {
          disk.setFaults(DiskFaults.NONE);
          workers.forEach(Worker::close);
        }
      }
    }

    /** Occasionally opens an older checkpoint, which removes the newer ones. */
    private CprStore open() {
      StoreConfig config = setup.config(random);
      List<Long> kept = CheckpointNames.recoverable(disk);
      if (kept.isEmpty() || random.nextBoolean()) {
        return CprStore.openOrRecover(config, setup.device(config));
      }
      long number = kept.get(random.nextInt(kept.size()));
      return CprStore.recover(config, new CheckpointToken(number), setup.device(config));
    }

    private Commit commit(CprStore store, List<Worker> workers) {
      long[] before = workers.stream().mapToLong(Worker::serial).toArray();
      isCommitting = true;
      try {
        Commit commit = store.checkpoint(random);
        for (int session = 0; session < before.length; session++) {
          assertThat(commit.point(session))
              .isBetween(before[session], workers.get(session).serial());
        }
        return commit;
      } finally {
        isCommitting = false;
      }
    }

    /** Sessions execute operations whenever the checkpoint's own thread accesses the disk. */
    private DiskFaults meanwhile(List<Worker> workers) {
      Thread thread = Thread.currentThread();
      return new DiskFaults() {
        @Override
        public int beforeWrite(String file, long position, int bytes) {
          if (Thread.currentThread() == thread && isCommitting) {
            isCommitting = false;
            advance(workers, random.nextInt(MEANWHILE));
            isCommitting = true;
          }
          return bytes;
        }
      };
    }

    private void advance(List<Worker> workers, int steps) {
      for (int i = 0; i < steps; i++) {
        workers.get(random.nextInt(workers.size())).advance();
      }
    }

    private void keepHouse(CprStore store) {
      List<CheckpointToken> kept = store.store().checkpoints().list();
      if (kept.size() > 1 && random.nextBoolean()) {
        store.store().checkpoints().remove(kept.get(random.nextInt(kept.size() - 1)));
      }
      switch (random.nextInt(4)) {
        case 0 -> store.store().log().compact();
        case 1 -> Setup.resizeIndex(store.store(), random);
        default -> {}
      }
    }

    int someStep() {
      return random.nextInt(acknowledged.firstKey(), disk.steps() + 1);
    }

    Lives livesAt(int step) {
      return step < openedAt ? inherited : lives;
    }

    void cutEverywhere() {
      for (int step = 0; step <= disk.steps(); step++) {
        long fate = random.nextLong();
        check(step, "all", PowerCutFate.ALL);
        check(step, "none", PowerCutFate.NONE);
        check(step, "some " + fate, PowerCutFate.some(fate));
      }
    }

    private void check(int step, String fateName, PowerCutFate fate) {
      SimulatedDisk left = disk.afterPowerCut(step, fate);
      Map.Entry<Integer, Commit> least = acknowledged.floorEntry(step);
      Setup same = new Setup(new SplittableRandom(script.seed()), left.directory(), true);
      StoreConfig config = same.config(random);
      try (CprStore store = CprStore.openOrRecover(config, same.device(config))) {
        Commit found = store.recovered();
        if (least != null) {
          assertThat(found.number()).isGreaterThanOrEqualTo(least.getValue().number());
          for (int session = 0; session < script.sessions(); session++) {
            assertThat(found.point(session))
                .as("session " + session)
                .isGreaterThanOrEqualTo(least.getValue().point(session));
          }
        }
        new Verifier(script, livesAt(step)).check(store, found, same.maxBytes());
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            "seed "
                + script.seed()
                + ", after step "
                + step
                + ", "
                + fateName
                + ", "
                + same
                + ", files "
                + left.names(),
            e);
      }
    }
  }
}
