package io.fasterkv.inject;

import java.lang.foreign.Arena;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The methods that instrumented classes call. Each class loader has its own copy. */
public final class Hooks {

  /** Decides at each visit of a point whether an Error is thrown. */
  interface Plan {
    Plan NONE = point -> {};

    void visit(int point);
  }

  /** Off-heap memory that was allocated and may still be in use. */
  static final Queue<Taken> ARENAS = new ConcurrentLinkedQueue<>();

  /** An arena and the stack trace of its creation. */
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

  /** Called in place of {@link Arena#ofShared}. */
  public static Arena ofShared() {
    Arena arena = Arena.ofShared();
    ARENAS.add(new Taken(arena, new Throwable("an arena")));
    return arena;
  }
}
