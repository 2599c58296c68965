package io.fasterkv;

/** The place where a method hooked by {@link HookedClasses} stops a thread, at its first call. */
public final class Hook {
  static final String BEFORE = "before";
  static final String AFTER = "after";

  private static final ThreadLocal<Stop> STOPS = new ThreadLocal<>();

  private record Stop(String where, Pause pause) {}

  private Hook() {}

  /** Makes the calling thread stop in {@code pause} before the next call of the method. */
  public static void stopBefore(Pause pause) {
    STOPS.set(new Stop(BEFORE, pause));
  }

  /** Makes the calling thread stop in {@code pause} after the next call of the method. */
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
