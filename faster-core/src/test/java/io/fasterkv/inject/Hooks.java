package io.fasterkv.inject;

import java.lang.foreign.Arena;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What instrumented classes call. Each class loader has its own. */
public final class Hooks {

  /** Decides at each visit of a point whether an Error is thrown. */
  interface Plan {
    Plan NONE = point -> {};

    void visit(int point);
  }

  /** Memory outside the heap that was taken and may still be held. */
  static final Queue<Taken> ARENAS = new ConcurrentLinkedQueue<>();

  /** An arena, and where it was made. */
  record Taken(Arena arena, Throwable place) {}

  private static volatile Plan plan = Plan.NONE;

  private Hooks() {}

  static void follow(Plan next) {
    plan = next;
  }

  /** Called at each point. */
  public static void at(int point) {
    plan.visit(point);
  }

  /** Called instead of {@link Arena#ofShared}. */
  public static Arena ofShared() {
    Arena arena = Arena.ofShared();
    ARENAS.add(new Taken(arena, new Throwable("an arena")));
    return arena;
  }
}
