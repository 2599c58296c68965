package io.fasterkv.inject;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The threads and the off-heap memory that a store must release. */
final class Leaks {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Set<Thread> before = Set.copyOf(Thread.getAllStackTraces().keySet());

  Leaks() {
    Hooks.ARENAS.clear();
  }

  /**
   * The resources that a closed store still holds; empty if there are none. Threads may take a
   * moment to end.
   */
  String find() {
    long until = System.nanoTime() + PATIENCE_NANOS;
    List<Thread> threads = threads();
    while (!threads.isEmpty() && System.nanoTime() < until) {
      join(threads.getFirst());
      threads = threads();
    }
    List<String> arenas =
        Hooks.ARENAS.stream()
            .filter(taken -> taken.arena().scope().isAlive())
            .map(taken -> Stacks.of(taken.place()))
            .toList();
    Hooks.ARENAS.clear();
    return (threads.isEmpty() ? "" : "threads=" + threads + " ")
        + (arenas.isEmpty() ? "" : "arenas=" + arenas);
  }

  private List<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread))
        .filter(thread -> thread.getName().startsWith("faster-"))
        .filter(thread -> !thread.getName().equals("faster-memory"))
        .toList();
  }

  private static void join(Thread thread) {
    try {
      thread.join(100);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
