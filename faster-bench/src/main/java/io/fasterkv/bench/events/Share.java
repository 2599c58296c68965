package io.fasterkv.bench.events;

import java.io.Serializable;

/**
 * The events of one of several readers, in its order. Readers take the milliseconds of event time
 * in turn, so events of the same time are never read by two of them: their order is the same in
 * every run, and so are results that depend on it.
 *
 * @param index of the reader, from 0
 * @param readers how many there are
 * @param total events of all readers
 * @param disorder events among which the order is changed, 1 for none; below 953
 */
public record Share(int index, int readers, long total, int disorder) implements Serializable {
  /** Prime, so that it permutes any smaller number of events. */
  private static final long STRIDE = 953;

  /** The most that {@link #disorder} may be. */
  public static final int MOST_DISORDER = (int) STRIDE - 1;

  /** How many events it has. */
  public long size() {
    long turn = (long) EventClock.EVENTS_PER_MILLI * readers;
    long before = (long) EventClock.EVENTS_PER_MILLI * index;
    return total / turn * EventClock.EVENTS_PER_MILLI
        + Math.clamp(total % turn - before, 0, EventClock.EVENTS_PER_MILLI);
  }

  /**
   * The number of an event.
   *
   * @param position in this share, below {@link #size()}
   */
  public long number(long position) {
    long ordered = ordered(position);
    long milli = ordered / EventClock.EVENTS_PER_MILLI;
    return (milli * readers + index) * EventClock.EVENTS_PER_MILLI
        + ordered % EventClock.EVENTS_PER_MILLI;
  }

  private long ordered(long position) {
    long group = position / disorder;
    if (disorder == 1 || (group + 1) * disorder > size()) {
      return position;
    }
    return group * disorder + position % disorder * STRIDE % disorder;
  }
}
