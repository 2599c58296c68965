package io.fasterkv.cpr;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Crew;
import io.fasterkv.FasterStore;
import io.fasterkv.Insides;
import io.fasterkv.StoreInvariants;
import io.fasterkv.api.checkpoint.CommitPoint;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.checkpoint.shift.CheckpointDriver;
import io.fasterkv.cpr.CprStore.Commit;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

/**
 * Runs several lives of a store, with named sessions on threads of their own and concurrent
 * checkpoints, compaction and index resizes. After each life, some of its checkpoints are recovered
 * and compared with the operations of the sessions.
 */
final class PrefixRun {
  private static final int LIVES = 3;
  private static final int OPERATIONS = 6_000;
  private static final int BETWEEN_COMMITS = 800;
  private static final int BETWEEN_MANY_COMMITS = 30;

  /** Checkpoints are slow on a busy machine, and sessions would fill the disk in the meantime. */
  private static final int MOST_BETWEEN_MANY_COMMITS = 20_000;

  private static final int BETWEEN_CHORES = 400;
  private static final int KEPT = 6;
  private static final int CHECKED = 3;

  private final SplittableRandom random;
  private final Setup setup;
  private final Script script;
  private final Lives lives;
  private final String title;
  private final AtomicLongArray begun;
  private final AtomicLongArray ended;
  private int operations = OPERATIONS;
  private int checkpoints = Integer.MAX_VALUE;
  private int betweenCommits = BETWEEN_COMMITS;
  private long mostBetweenCommits = Long.MAX_VALUE;

  /** Number of operations of all sessions when the newest checkpoint ended. */
  private volatile long atCommit;

  private UnaryOperator<CheckpointDriver> drivers = sound -> sound;
  private Commit base;

  PrefixRun(long seed, Path directory) {
    random = new SplittableRandom(seed);
    setup = new Setup(random, directory, false);
    script = new Script(seed, 2 + random.nextInt(3), random.nextBoolean() ? 8 : 200);
    lives = new Lives(script.sessions());
    begun = new AtomicLongArray(script.sessions());
    ended = new AtomicLongArray(script.sessions());
    title = "seed " + seed + ", " + script.sessions() + " sessions, " + setup;
  }

  /** Takes this many checkpoints in each life, in quick succession. */
  PrefixRun withCheckpoints(int count) {
    checkpoints = count;
    betweenCommits = BETWEEN_MANY_COMMITS;
    mostBetweenCommits = MOST_BETWEEN_MANY_COMMITS;
    operations = Integer.MAX_VALUE;
    return this;
  }

  /** Replaces the store's checkpoint driver with another one. */
  PrefixRun drivenBy(UnaryOperator<CheckpointDriver> other) {
    drivers = other;
    return this;
  }

  /** For each session, the serial number that it has certainly reached by now. */
  SortedMap<String, CommitPoint> serials() {
    SortedMap<String, CommitPoint> serials = new TreeMap<>();
    for (int session = 0; session < ended.length(); session++) {
      serials.put(CprStore.name(session), new CommitPoint(ended.get(session), List.of()));
    }
    return serials;
  }

  void start() {
    for (int life = 0; life < LIVES; life++) {
      try {
        List<Commit> commits = live(life);
        recoverSome(commits);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(title + ", life " + life, e);
      }
    }
  }

  private List<Commit> live(int life) {
    List<Commit> commits = new ArrayList<>();
    StoreConfig config = setup.config(random);
    try (CprStore store = open(config, base)) {
      store.driveBy(drivers);
      Crew crew = new Crew(title, () -> Insides.marks(store.store()));
      for (int session = 0; session < script.sessions(); session++) {
        long point = store.point(session);
        lives.begin(life, session, point);
        begun.set(session, point);
        ended.set(session, point);
      }
      for (int session = 0; session < script.sessions(); session++) {
        int number = session;
        SplittableRandom dice = random.split();
        crew.add(() -> work(crew, store, number, dice));
      }
      SplittableRandom kinds = random.split();
      crew.add(() -> commit(crew, store, kinds, commits));
      SplittableRandom dice = random.split();
      crew.add(() -> keepHouse(crew, store.store(), dice));
      crew.run();
    }
    return commits;
  }

  private CprStore open(StoreConfig config, Commit commit) {
    return commit == null
        ? CprStore.open(config, setup.device(config))
        : CprStore.recover(config, commit.token(), setup.device(config));
  }

  private void work(Crew crew, CprStore store, int number, SplittableRandom dice) {
    long point = store.point(number);
    StampedSession session = store.anySession(number, dice, setup.maxBytes());
    try (Worker worker = new Worker(session, script, number, point, lives)) {
      for (int i = 0; i < operations && !crew.isOver(); i++) {
        begun.set(number, worker.serial() + Script.BLOCK);
        worker.advance();
        ended.set(number, worker.serial());
        if (dice.nextInt(64) == 0) {
          worker.completePending();
        } else if (dice.nextInt(256) == 0) {
          Thread.yield();
        }
        while (total() - atCommit > mostBetweenCommits && !crew.isOver()) {
          Thread.yield();
        }
      }
    }
    crew.end();
  }

  private void commit(Crew crew, CprStore store, SplittableRandom kinds, List<Commit> commits) {
    int taken = 0;
    do {
      awaitWork(crew, kinds.nextInt(betweenCommits));
      long[] before = LongStream.range(0, ended.length()).map(i -> ended.get((int) i)).toArray();
      Commit commit = store.checkpoint(kinds);
      for (int session = 0; session < before.length; session++) {
        assertThat(commit.point(session))
            .as("session %s in checkpoint %s", session, commit)
            .isBetween(before[session], begun.get(session));
      }
      commits.add(commit);
      if (commits.size() > KEPT) {
        Commit old = commits.remove(kinds.nextInt(commits.size() - 1));
        store.store().checkpoints().remove(old.token());
      }
      taken++;
      atCommit = total();
    } while (!crew.isOver() && taken < checkpoints);
    crew.end();
  }

  private void keepHouse(Crew crew, FasterStore store, SplittableRandom dice) {
    while (!crew.isOver()) {
      switch (dice.nextInt(8)) {
        case 0 -> store.log().compact();
        case 1 -> store.log().cut().close();
        case 2 -> Setup.resizeIndex(store, dice);
        default -> {}
      }
      awaitWork(crew, dice.nextInt(BETWEEN_CHORES));
    }
  }

  /** Returns when the sessions have executed this many more operations, or the run is over. */
  private void awaitWork(Crew crew, int operations) {
    long until = total() + operations;
    while (total() < until && !crew.isOver()) {
      Thread.yield();
    }
  }

  private long total() {
    long total = 0;
    for (int session = 0; session < ended.length(); session++) {
      total += ended.get(session);
    }
    return total;
  }

  /**
   * Recovers from newest to oldest, since a recovery removes newer checkpoints; the next life
   * continues from the last one recovered.
   */
  private void recoverSome(List<Commit> commits) {
    int at = commits.size() - 1;
    for (int i = 0; i < CHECKED && at >= 0; i++) {
      Commit commit = commits.get(at);
      StoreConfig config = setup.config(random);
      try (CprStore store = open(config, commit)) {
        new Verifier(script, lives).check(store, commit, setup.maxBytes());
        StoreInvariants.check(store.store());
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("checkpoint " + at + " of " + commits.size() + ": " + commit, e);
      }
      base = commit;
      at -= 1 + random.nextInt(commits.size());
    }
  }
}
