package io.fasterkv.stress.broken;

import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Runs two actors against each other, round after round, until a detector has seen enough. */
final class Race {
  private static final int SPINS_BEFORE_YIELD = 1000;

  /** Delays are up to a power of two of steps, of a nanosecond or so each. */
  private static final int DELAY_SCALES = 10;

  private final AtomicInteger turn = new AtomicInteger();
  private final Runnable second;
  private final SplittableRandom firstDelays = new SplittableRandom(1);
  private final SplittableRandom secondDelays = new SplittableRandom(2);

  private Race(Runnable second) {
    this.second = second;
  }

  /** The number of the round after which {@code isCaught}, or -1 if it is not in {@code rounds}. */
  static int roundsUntil(
      int rounds, Runnable before, Runnable first, Runnable second, BooleanSupplier isCaught) {
    Race race = new Race(second);
    CompletableFuture<Void> other = CompletableFuture.runAsync(race::follow, Race::inThread);
    try {
      for (int round = 1; round <= rounds; round++) {
        before.run();
        race.turn.set(1);
        delay(race.firstDelays);
        first.run();
        race.await(2);
        if (isCaught.getAsBoolean()) {
          return round;
        }
        race.turn.set(0);
      }
      return -1;
    } finally {
      race.turn.set(-1);
      other.join();
    }
  }

  /**
   * Lets an actor begin at another moment each round: how long the other takes to see its turn, and
   * how long the moment lasts in which both must meet, is each machine's own, and from a few
   * nanoseconds to some hundred.
   */
  private static void delay(SplittableRandom delays) {
    int scale = delays.nextInt(DELAY_SCALES);
    for (int steps = delays.nextInt(1 << scale); steps > 0; ) {
      // Each step needs the number of the one before, so none is left out.
      steps -= 1 + (delays.nextInt() >>> 31);
    }
  }

  private void follow() {
    while (await(1) == 1) {
      delay(secondDelays);
      second.run();
      turn.compareAndSet(1, 2);
    }
  }

  /** Waits for a turn, or for the end, which is negative. */
  private int await(int wanted) {
    for (int spins = 0; ; spins++) {
      int now = turn.get();
      if (now == wanted || now < 0) {
        return now;
      }
      if (spins < SPINS_BEFORE_YIELD) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  private static void inThread(Runnable task) {
    Thread.ofPlatform().daemon().name("second-actor").start(task);
  }
}
