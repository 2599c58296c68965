package io.fasterkv.stress.broken;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Runs two actors against each other, round after round, until a detector has seen enough. */
final class Race {
  private static final int SPINS_BEFORE_YIELD = 1000;

  private static final int LONGEST_DELAY = 32;

  private final AtomicInteger turn = new AtomicInteger();
  private final Runnable second;

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
        delay(round);
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

  /** The other actor takes a while to see its turn; meet it at another place each round. */
  private static void delay(int round) {
    for (int step = round % LONGEST_DELAY; step > 0; step--) {
      Thread.onSpinWait();
    }
  }

  private void follow() {
    while (await(1) == 1) {
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
