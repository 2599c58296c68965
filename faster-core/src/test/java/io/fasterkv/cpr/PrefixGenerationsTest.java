package io.fasterkv.cpr;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.FasterStore;
import io.fasterkv.Seeds;
import io.fasterkv.StoreInvariants;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.cpr.CprStore.Commit;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests fifty lives of one store. Each life has a few named sessions that continue where they ended
 * in the last life: operations, a checkpoint of any kind or none, a crash, and a recovery with
 * another amount of memory. One thread executes everything, so a seed replays. When a checkpoint is
 * taken, sessions are parked with reads in progress, the tail is in the middle of a page, and often
 * nothing has happened since the last one. In between, the log is compacted and the index resized.
 */
@Tag("seeds")
class PrefixGenerationsTest {
  private static final int GENERATIONS = 50;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everySessionIsRecoveredWithOnePrefix(long seed) {
    new Run(seed, directory).start();
  }

  private static final class Run {
    private final SplittableRandom random;
    private final Setup setup;
    private final Script script;
    private final Lives lives;
    private final String title;
    private Commit newest;
    private int generation;

    Run(long seed, Path directory) {
      random = new SplittableRandom(seed);
      setup = new Setup(random, directory, false);
      script = new Script(seed, 1 + random.nextInt(4), 10 + random.nextInt(150));
      lives = new Lives(script.sessions());
      title = "seed " + seed + ", " + setup;
    }

    void start() {
      for (generation = 0; generation < GENERATIONS; generation++) {
        try {
          live();
        } catch (RuntimeException | AssertionError e) {
          throw new AssertionError(title + ", generation " + generation, e);
        }
      }
    }

    private void live() {
      StoreConfig config = setup.config(random);
      try (CprStore store = open(config)) {
        if (newest != null) {
          new Verifier(script, lives).check(store, newest, setup.maxBytes());
          StoreInvariants.check(store.store());
        }
        for (int session = 0; session < script.sessions(); session++) {
          assertThat(store.point(session)).isEqualTo(newest == null ? 0 : newest.point(session));
          lives.begin(generation, session, store.point(session));
        }
        work(store);
      }
    }

    private CprStore open(StoreConfig config) {
      return newest == null
          ? CprStore.open(config, setup.device(config))
          : CprStore.recover(config, newest.token(), setup.device(config));
    }

    private void work(CprStore store) {
      List<Worker> workers = new ArrayList<>();
      try {
        for (int session = 0; session < script.sessions(); session++) {
          workers.add(worker(store, session));
        }
        for (int left = random.nextInt(4); left > 0; left--) {
          advance(workers, random.nextInt(4) == 0 ? 0 : random.nextInt(200));
          keepHouse(store.store());
          commit(store, workers);
        }
        advance(workers, random.nextInt(100));
      } finally {
        workers.forEach(Worker::close);
      }
    }

    private Worker worker(CprStore store, int session) {
      StampedSession named = store.anySession(session, random, setup.maxBytes());
      return new Worker(named, script, session, store.point(session), lives);
    }

    private void advance(List<Worker> workers, int steps) {
      for (int i = 0; i < steps; i++) {
        workers.get(random.nextInt(workers.size())).advance();
      }
    }

    /**
     * The checkpoint contains all accepted operations: no session is running, though some
     * operations are pending.
     */
    private void commit(CprStore store, List<Worker> workers) {
      Commit commit = store.checkpoint(random);
      for (int session = 0; session < workers.size(); session++) {
        assertThat(commit.point(session)).isEqualTo(workers.get(session).serial());
      }
      newest = commit;
    }

    private void keepHouse(FasterStore store) {
      switch (random.nextInt(8)) {
        case 0 -> store.log().compact();
        case 1 -> store.log().cut().close();
        case 2 -> Setup.resizeIndex(store, random);
        default -> {}
      }
    }
  }
}
