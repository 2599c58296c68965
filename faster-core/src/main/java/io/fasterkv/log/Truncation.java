package io.fasterkv.log;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Gives storage below the log's begin back, but not while somebody still needs it: a reader pins
 * the begin it has seen, and a checkpoint retains the part of the log that it is made of. Used when
 * a scan begins and ends, with checkpoints, and when the begin moves; never by an operation.
 */
final class Truncation {
  private final LogMarks marks;
  private final FlushedExtents extents;
  private final LogDevice device;
  private final long pageBytes;

  /** How many readers began at each begin address. */
  private final TreeMap<Long, Integer> pins = new TreeMap<>();

  /** Those of the pins that last until the caller of the store ends them. */
  private final TreeMap<Long, Integer> keeps = new TreeMap<>();

  /** How many checkpoints begin at each address. */
  private final TreeMap<Long, Integer> retained = new TreeMap<>();

  /** Storage below it was given back. */
  private volatile long givenBackUntil;

  /** Whether a keep or a checkpoint begins at the begin or below. */
  private volatile boolean isHeld;

  private boolean isClosed;

  Truncation(LogMarks marks, FlushedExtents extents, LogDevice device, long pageBytes) {
    this.marks = marks;
    this.extents = extents;
    this.device = device;
    this.pageBytes = pageBytes;
  }

  /**
   * Pins the begin of the log and returns it, until the caller of the store says so; each call
   * wants its {@link #unpin}.
   */
  synchronized long pin() {
    long begin = pinBriefly();
    try {
      keeps.merge(begin, 1, Integer::sum);
    } catch (Throwable e) {
      takeOut(pins, begin);
      throw e;
    }
    noteHeld();
    return begin;
  }

  synchronized void unpin(long begin) throws IOException {
    takeOut(keeps, begin);
    noteHeld();
    unpinBrief(begin);
  }

  /** As {@link #pin}, for who ends it by himself, by {@link #unpinBrief}. */
  synchronized long pinBriefly() {
    long begin = marks.begin();
    pins.merge(begin, 1, Integer::sum);
    return begin;
  }

  synchronized void unpinBrief(long begin) throws IOException {
    takeOut(pins, begin);
    giveBack();
  }

  /** Whether a caller of the store has pinned anything. */
  synchronized boolean isKept() {
    return !keeps.isEmpty();
  }

  /** What lies below it is given back in time, whatever the callers of the store do. */
  synchronized long freeUntil() {
    return lower(keeps, marks.begin());
  }

  /** Keeps storage from {@code address} on; each call wants its {@link #release}. */
  synchronized void retain(long address) {
    retained.merge(address, 1, Integer::sum);
    noteHeld();
  }

  synchronized void release(long address) throws IOException {
    takeOut(retained, address);
    noteHeld();
    giveBack();
  }

  /** Moves the begin; storage follows as soon as nobody needs it. */
  synchronized void advanceBegin(long address) throws IOException {
    marks.advanceBegin(address);
    giveBack();
  }

  /** From now on no storage is given back: another store may have been opened on it. */
  synchronized void close() {
    isClosed = true;
  }

  /** Whether storage stays when the begin moves, for longer than a brief pin; takes no lock. */
  boolean isHeld() {
    return isHeld;
  }

  private void noteHeld() {
    boolean isRetained = !retained.isEmpty() && retained.firstKey() <= marks.begin();
    isHeld = isRetained || !keeps.isEmpty();
  }

  long givenBackUntil() {
    return givenBackUntil;
  }

  synchronized void giveBack() throws IOException {
    long removable = lower(pins, marks.begin());
    marks.advanceRemovable(removable);
    long floor = lower(retained, removable);
    if (floor > givenBackUntil && !isClosed) {
      givenBackUntil = floor;
      extents.truncate(floor);
      // An extent is verified as a whole, by checkpoints too, and lies on one page.
      device.truncate(floor & -pageBytes);
    }
  }

  private static long lower(NavigableMap<Long, Integer> wanted, long address) {
    return wanted.isEmpty() ? address : Math.min(wanted.firstKey(), address);
  }

  private static void takeOut(Map<Long, Integer> wanted, long address) {
    wanted.computeIfPresent(address, (at, count) -> count == 1 ? null : count - 1);
  }
}
