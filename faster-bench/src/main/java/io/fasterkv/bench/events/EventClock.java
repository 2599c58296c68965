package io.fasterkv.bench.events;

/** Event time: 10,000 events a second, whatever the pace of the run, ten in each millisecond. */
public final class EventClock {
  /** Events of the same millisecond, which follow each other. */
  public static final int EVENTS_PER_MILLI = 10;

  /** When the first event happens: 2020-01-01, midnight UTC. */
  public static final long BEGIN_MILLIS = 1_577_836_800_000L;

  /** How late an event may be. */
  public static final long LATENESS_MILLIS = 4_000;

  private EventClock() {}

  /** The time of an event. */
  public static long millisOf(long number) {
    return BEGIN_MILLIS + number / EVENTS_PER_MILLI;
  }

  /** The first event of a time. */
  public static long firstAt(long millis) {
    return (millis - BEGIN_MILLIS) * EVENTS_PER_MILLI;
  }
}
