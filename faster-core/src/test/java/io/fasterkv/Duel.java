package io.fasterkv;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * Runs rounds in which a few threads do one short step each at the same instant; then one of them
 * checks the result while the others wait.
 */
final class Duel {
  private static final int SPINS = 2000;

  private final Crew crew;
  private final int threads;
  private final int rounds;
  private final AtomicInteger arrived = new AtomicInteger();

  Duel(int threads, int rounds, String title, Supplier<String> state) {
    this.threads = threads;
    this.rounds = rounds;
    crew = new Crew(title, state);
  }

  /** Adds a thread that only acts; it receives the number of the round. */
  Duel add(LongConsumer act) {
    return add(act, round -> {});
  }

  /** Adds a thread that also checks the outcome after all have acted. */
  Duel add(LongConsumer act, LongConsumer judge) {
    crew.add(() -> {
      for (int round = 0; round < rounds && !crew.isOver(); round++) {
        meet(3 * round + 1);
        act.accept(round);
        meet(3 * round + 2);
        judge.accept(round);
        meet(3 * round + 3);
      }
    });
    return this;
  }

  void run() {
    crew.run();
  }

  private void meet(int time) {
    arrived.incrementAndGet();
    for (int spins = 0; arrived.get() < time * threads && !crew.isOver(); spins++) {
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }
}
