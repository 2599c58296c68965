package io.fasterkv.cpr;

import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.cpr.CprStore.Commit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A process to be killed: named sessions on threads of their own continue where the newest
 * checkpoint has them, and checkpoints of every kind are taken one after another, with concurrent
 * compaction in every other life. The process prints each checkpoint to standard output when it is
 * durable. It ends by itself only if something is wrong or its parent has ended.
 */
final class KillVictim {
  /** First word of the lines that the process writes. */
  static final String READY = "ready";

  static final String COMMIT = "commit ";

  /** The end of a complete line. */
  static final String END = " end";

  /** The line before the first checkpoint. */
  static final String NOTHING = COMMIT + "0" + END;

  private static final int KEPT = 4;
  private static final int STEPS_AT_A_TIME = 50;
  private static final long PAUSE_NANOS = 1_000_000;
  private static final int CHORES = 12;

  private final Script script;
  private final Lives lives;
  private final Setup setup;
  private final SplittableRandom random;

  private KillVictim(Path directory, long seed, String lives, int life) {
    SplittableRandom stable = new SplittableRandom(seed);
    setup = new Setup(stable, directory, true);
    script = script(seed, stable);
    this.lives = Lives.decode(lives);
    random = new SplittableRandom(seed + life);
  }

  /** The operations of the process with a seed, for the test that checks the recovered store. */
  static Script script(long seed, SplittableRandom stable) {
    return new Script(seed, 2 + stable.nextInt(2), 10 + stable.nextInt(200));
  }

  /** Arguments: directory, seed, {@link Lives}, number of the life. */
  public static void main(String[] arguments) {
    Thread.ofPlatform().daemon().start(KillVictim::endWithParent);
    try {
      new KillVictim(
              Path.of(arguments[0]),
              Long.parseLong(arguments[1]),
              arguments[2],
              Integer.parseInt(arguments[3]))
          .run();
    } catch (Throwable e) {
      fail(e);
    }
  }

  private static void fail(Throwable failure) {
    failure.printStackTrace();
    Runtime.getRuntime().halt(1);
  }

  private static void endWithParent() {
    try {
      while (System.in.read() >= 0) {}
    } catch (IOException e) {
      // Reached only when the parent has ended.
    }
    Runtime.getRuntime().halt(2);
  }

  private void run() {
    StoreConfig config = setup.config(random, random.nextBoolean());
    CprStore store = CprStore.openOrRecover(config, setup.device(config));
    for (int session = 0; session < script.sessions(); session++) {
      int number = session;
      StampedSession named = store.anySession(session, random, setup.maxBytes());
      Thread.ofPlatform()
          .uncaughtExceptionHandler((thread, e) -> fail(e))
          .start(() -> work(store, number, named));
    }
    System.out.println(READY);
    List<Commit> commits = new ArrayList<>();
    while (true) {
      Commit commit = store.checkpoint(random);
      System.out.println(line(commit));
      commits.add(commit);
      if (commits.size() > KEPT) {
        Commit old = commits.remove(random.nextInt(commits.size() - 1));
        store.store().checkpoints().remove(old.token());
      }
      switch (random.nextInt(CHORES)) {
        case 0 -> store.store().log().compact();
        case 1 -> store.store().log().cut().close();
        case 2 -> Setup.resizeIndex(store.store(), random);
        default -> {}
      }
    }
  }

  private void work(CprStore store, int number, StampedSession session) {
    Worker worker = new Worker(session, script, number, store.point(number), lives);
    while (true) {
      for (int i = 0; i < STEPS_AT_A_TIME; i++) {
        worker.advance();
      }
      // So that the log remains short and recovery fast.
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private String line(Commit commit) {
    return COMMIT
        + commit.number()
        + IntStream.range(0, script.sessions())
            .mapToObj(session -> " " + commit.point(session))
            .collect(Collectors.joining())
        + END;
  }
}
