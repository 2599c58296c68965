package io.fasterkv.log;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.util.TreeMap;

/**
 * Gives storage below the log's begin back, but not while somebody still reads there: a reader pins
 * the begin it has seen. Used when a scan begins and ends and when the begin moves; never by an
 * operation.
 */
final class Truncation {
  private final LogMarks marks;
  private final FlushedExtents extents;
  private final LogDevice device;

  /** How many readers began at each begin address. */
  private final TreeMap<Long, Integer> pins = new TreeMap<>();

  /** Storage below it was given back, or never was. */
  private long givenBackUntil;

  Truncation(LogMarks marks, FlushedExtents extents, LogDevice device) {
    this.marks = marks;
    this.extents = extents;
    this.device = device;
    givenBackUntil = marks.begin();
  }

  /** Pins the begin of the log and returns it; each call wants its {@link #unpin}. */
  synchronized long pin() {
    long begin = marks.begin();
    pins.merge(begin, 1, Integer::sum);
    return begin;
  }

  synchronized void unpin(long begin) throws IOException {
    pins.computeIfPresent(begin, (address, count) -> count == 1 ? null : count - 1);
    giveBack();
  }

  /** Moves the begin; storage follows as soon as no pin is below. */
  synchronized void advanceBegin(long address) throws IOException {
    marks.advanceBegin(address);
    giveBack();
  }

  private void giveBack() throws IOException {
    long floor = pins.isEmpty() ? marks.begin() : Math.min(pins.firstKey(), marks.begin());
    if (floor > givenBackUntil) {
      givenBackUntil = floor;
      device.truncate(extents.truncate(floor));
    }
  }
}
