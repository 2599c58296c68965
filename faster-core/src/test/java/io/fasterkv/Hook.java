package io.fasterkv;

/** Where the method that {@link HookedClasses} hook stops a thread: the first time it comes by. */
public final class Hook {
  static final String BEFORE = "before";
  static final String AFTER = "after";

  private static final ThreadLocal<Stop> STOPS = new ThreadLocal<>();

  private record Stop(String where, Pause pause) {}

  private Hook() {}

  /** The calling thread stops in {@code pause} when it comes to the method next. */
  public static void stopBefore(Pause pause) {
    STOPS.set(new Stop(BEFORE, pause));
  }

  /** The calling thread stops in {@code pause} when it has been through the method next. */
  public static void stopAfter(Pause pause) {
    STOPS.set(new Stop(AFTER, pause));
  }

  /** Called by the method. */
  public static void at(String where) {
    Stop stop = STOPS.get();
    if (stop != null && stop.where.equals(where)) {
      STOPS.remove();
      stop.pause.here();
    }
  }
}
