package io.fasterkv.cpr;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Insides;
import io.fasterkv.Seeds;
import io.fasterkv.StoreInvariants;
import io.fasterkv.api.session.SessionMode;
import io.fasterkv.checkpoint.BrokenShifts;
import io.fasterkv.checkpoint.shift.CheckpointDriver;
import io.fasterkv.cpr.CprStore.Commit;
import io.fasterkv.memory.BufferPool;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests twenty lives of a store whose functions sometimes throw and whose scratch memory runs out,
 * with checkpoints and crashes. Each session issues the events of a list. It repeats failed events
 * and, after a crash, those that its commit point does not include. At each recovery the store has
 * the events that the commit point promises; in the end, it has each event exactly once.
 */
@Tag("seeds")
class ExactlyOnceTest {
  private static final int LIVES = 20;
  private static final int MOST_SEEDS = 20;

  @TempDir Path directory;

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @Tag("slow")
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everyEventTakesEffectOnce(long seed) {
    Run run = new Run(seed, directory, sound -> sound);
    run.start();
    assertThat(run.failures()).as("functions throw while operations are pending").isPositive();
  }

  /** The test detects a driver that forgets failures. */
  @Tag("slow")
  @Test
  void detectsACheckpointThatForgetsFailedOperations() throws IOException {
    for (int i = 0; i < MOST_SEEDS; i++) {
      long seed = Seeds.fresh(1).findFirst().getAsLong();
      Path own = Files.createTempDirectory(directory, "seed-");
      Run run = new Run(seed, own, BrokenShifts::withoutExclusions);
      try {
        run.start();
      } catch (AssertionError e) {
        assertThat(e.getCause()).hasMessageMatching("(?s).*(has another sum|is not excluded).*");
        return;
      }
    }
    throw new AssertionError("not seen with any of so many seeds: " + MOST_SEEDS);
  }

  private static final class Run {
    private final SplittableRandom random;
    private final Setup setup;
    private final List<EventSource> sources = new ArrayList<>();
    private final FlakyFunctions functions;
    private final UnaryOperator<CheckpointDriver> drivers;
    private final String title;
    private final List<MemorySegment> taken = new ArrayList<>();
    private Commit newest;

    Run(long seed, Path directory, UnaryOperator<CheckpointDriver> drivers) {
      random = new SplittableRandom(seed);
      setup = new Setup(random, directory, false);
      this.drivers = drivers;
      functions = new FlakyFunctions(random.split(), setup.maxBytes());
      int sessions = 1 + random.nextInt(3);
      for (int session = 0; session < sessions; session++) {
        sources.add(new EventSource(session, random.split()));
      }
      title = "seed " + seed + ", " + setup;
    }

    long failures() {
      return sources.stream().mapToLong(EventSource::failures).sum();
    }

    void start() {
      for (int life = 0; life < LIVES; life++) {
        try {
          live(life == LIVES - 1);
        } catch (RuntimeException | AssertionError e) {
          throw new AssertionError(title + ", life " + life + ", checkpoint " + newest, e);
        }
      }
    }

    private void live(boolean isLast) {
      functions.mayThrow(false);
      try (CprStore store = open()) {
        store.driveBy(drivers);
        if (newest != null) {
          assertThat(store.recovered().points()).isEqualTo(newest.points());
        }
        check(store, false);
        work(store);
        if (isLast) {
          check(store, true);
        }
        StoreInvariants.check(store.store());
      }
    }

    private CprStore open() {
      var config = setup.config(random);
      return newest == null
          ? CprStore.open(config, setup.device(config))
          : CprStore.recover(config, newest.token(), setup.device(config));
    }

    /** Compares each key's sum with that of the events that the store must have. */
    private void check(CprStore store, boolean isAll) {
      Map<Long, Long> sums = new HashMap<>();
      for (EventSource source : sources) {
        if (isAll) {
          source.addAllTo(sums);
        } else {
          source.addTo(sums, newest);
        }
      }
      try (StampedSession session = store.anonymous(SessionMode.BLOCKING, setup.maxBytes())) {
        for (long key = 0; key < EventSource.KEYS; key++) {
          long expected = sums.getOrDefault(key, 0L);
          long number = key;
          session.perform(
              new Script.Step(0, 0, Script.Kind.READ, key, 0),
              found ->
                  assertThat(found == null ? 0L : found)
                      .as("sum of key %s", number)
                      .isEqualTo(expected));
        }
      }
    }

    /** A life issues all its events at its end; the crash that follows reverts them. */
    private void work(CprStore store) {
      List<FlakySession> sessions = new ArrayList<>();
      for (EventSource source : sources) {
        sessions.add(
            FlakySession.open(
                store, store.identity(source.number()), functions, random.nextInt(4)));
        // Before the first checkpoint that contains an operation of the session.
        source.replay(sessions.getLast(), source.point(newest));
      }
      try {
        for (int step = random.nextInt(600); step > 0; step--) {
          chore(store, sessions);
          functions.mayThrow(random.nextInt(3) != 0);
          int chosen = random.nextInt(sessions.size());
          sources.get(chosen).next(sessions.get(chosen));
          if (sessions.get(chosen).hasFailures()) {
            drain(store, chosen, sessions);
          }
        }
        releaseAll(store);
        functions.mayThrow(false);
        for (int i = 0; i < sessions.size(); i++) {
          drain(store, i, sessions);
        }
      } finally {
        releaseAll(store);
        sessions.forEach(FlakySession::close);
      }
    }

    private void chore(CprStore store, List<FlakySession> sessions) {
      switch (random.nextInt(60)) {
        case 0, 1 -> {
          releaseAll(store);
          functions.mayThrow(true);
          newest = store.checkpoint(random);
        }
        case 2 -> {
          releaseAll(store);
          store.store().log().compact();
        }
        case 3 -> starveOne(store, sessions);
        case 4, 5 -> releaseAll(store);
        case 6, 7, 8, 9, 10 -> {
          functions.mayThrow(random.nextBoolean());
          drain(store, random.nextInt(sessions.size()), sessions);
        }
        default -> {}
      }
    }

    private void drain(CprStore store, int chosen, List<FlakySession> sessions) {
      Runnable calm =
          () -> {
            functions.mayThrow(false);
            releaseAll(store);
          };
      sources.get(chosen).drain(sessions.get(chosen), calm);
    }

    /**
     * Makes a single update find no scratch memory, since several would wait for each other.
     * Skipped for large values, which would wait for half a minute.
     */
    private void starveOne(CprStore store, List<FlakySession> sessions) {
      if (setup.maxBytes() > Setup.LARGEST_SMALL) {
        return;
      }
      int chosen = random.nextInt(sessions.size());
      drain(store, chosen, sessions);
      starve(store);
      sources.get(chosen).next(sessions.get(chosen));
      drain(store, chosen, sessions);
      releaseAll(store);
    }

    /** Leaves little scratch memory, or none. */
    private void starve(CprStore store) {
      BufferPool buffers = Insides.engine(store.store()).buffers();
      long left = random.nextInt(3) * 4096L;
      while (buffers.freeBytes() > left) {
        MemorySegment next = buffers.tryTake(BufferPool.MIN_BYTES);
        if (next == null) {
          return;
        }
        taken.add(next);
      }
    }

    private void releaseAll(CprStore store) {
      taken.forEach(Insides.engine(store.store()).buffers()::give);
      taken.clear();
    }
  }
}
