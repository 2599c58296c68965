package io.fasterkv.stress.broken;

import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Races two actors against each other in rounds until a detector reports a fault. */
final class Race {
  private static final int SPINS_BEFORE_YIELD = 1000;

  /** A delay has up to a power of two of steps, each of about a nanosecond. */
  private static final int DELAY_SCALES = 10;

  private static final int END = -1;

  private final AtomicInteger turn = new AtomicInteger();
  private final Runnable second;
  private final SplittableRandom firstDelays = new SplittableRandom(1);
  private final SplittableRandom secondDelays = new SplittableRandom(2);

  private Race(Runnable second) {
    this.second = second;
  }

  /** The first round after which {@code isCaught} holds, or -1 if it does not in {@code rounds}. */
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
        if (race.await(2) < 0) {
          break;
        }
        if (isCaught.getAsBoolean()) {
          return round;
        }
        race.turn.set(0);
      }
      return -1;
    } finally {
      race.turn.set(END);
      other.join();
    }
  }

  /**
   * Delays an actor by a different time in each round. How long the other actor takes to see its
   * turn, and how long the window is in which both must meet, depends on the machine: from a few
   * nanoseconds to some hundred.
   */
  private static void delay(SplittableRandom delays) {
    int scale = delays.nextInt(DELAY_SCALES);
    for (int steps = delays.nextInt(1 << scale); steps > 0; ) {
      // Each step depends on the random number of the step before, so the JIT cannot omit any.
      steps -= 1 + (delays.nextInt() >>> 31);
    }
  }

  private void follow() {
    try {
      while (await(1) == 1) {
        delay(secondDelays);
        second.run();
        turn.compareAndSet(1, 2);
      }
    } finally {
      // If the actor failed, the first one must not wait for it.
      turn.set(END);
    }
  }

  /** Waits for a turn or for the end, which is a negative number. */
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
