package io.fasterkv.log;

import io.fasterkv.device.LogDevice;
import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Releases storage below the log's begin address as soon as nothing needs it: a reader pins the
 * begin address it has seen, and a checkpoint retains its part of the log. Used when a scan begins
 * and ends, for checkpoints, and when the begin address moves; never by an operation.
 */
final class Truncation {
  private final LogMarks marks;
  private final FlushedExtents extents;
  private final LogDevice device;
  private final long pageBytes;

  /** Number of readers by the begin address they pinned. */
  private final TreeMap<Long, Integer> pins = new TreeMap<>();

  /** Number of pins that the store's caller ends, by address; these are also in pins. */
  private final TreeMap<Long, Integer> keeps = new TreeMap<>();

  /** Number of checkpoints by the address where they begin. */
  private final TreeMap<Long, Integer> retained = new TreeMap<>();

  /** Storage below this address was released. */
  private volatile long releasedUntil;

  /**
   * Whether the store's caller has pinned anything, or a checkpoint begins at or below the begin
   * address.
   */
  private volatile boolean isHeld;

  private boolean isClosed;

  Truncation(LogMarks marks, FlushedExtents extents, LogDevice device, long pageBytes) {
    this.marks = marks;
    this.extents = extents;
    this.device = device;
    this.pageBytes = pageBytes;
  }

  /**
   * Pins the log's begin address and returns it. Every call needs an {@link #unpin}, which the
   * store's caller decides about.
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

  /** Like {@link #pin}, for a pin that ends without the store's caller, by {@link #unpinBrief}. */
  synchronized long pinBriefly() {
    long begin = marks.begin();
    pins.merge(begin, 1, Integer::sum);
    return begin;
  }

  synchronized void unpinBrief(long begin) throws IOException {
    takeOut(pins, begin);
    releaseStorage();
  }

  /** Whether the store's caller has pinned anything. */
  synchronized boolean isKept() {
    return !keeps.isEmpty();
  }

  /** Storage below this address will be released whatever the store's callers do. */
  synchronized long freeUntil() {
    return lower(keeps, marks.begin());
  }

  /** Keeps storage from {@code address} on; every call needs a {@link #release}. */
  synchronized void retain(long address) {
    retained.merge(address, 1, Integer::sum);
    noteHeld();
  }

  synchronized void release(long address) throws IOException {
    takeOut(retained, address);
    noteHeld();
    releaseStorage();
  }

  /** Moves the begin address; its storage is released as soon as nothing needs it. */
  synchronized void advanceBegin(long address) throws IOException {
    marks.advanceBegin(address);
    releaseStorage();
  }

  /** Stops the release of storage: another store may have been opened on it. */
  synchronized void close() {
    isClosed = true;
  }

  /**
   * Whether storage is kept when the begin address moves, for longer than a brief pin; takes no
   * lock.
   */
  boolean isHeld() {
    return isHeld;
  }

  private void noteHeld() {
    boolean isRetained = !retained.isEmpty() && retained.firstKey() <= marks.begin();
    isHeld = isRetained || !keeps.isEmpty();
  }

  long releasedUntil() {
    return releasedUntil;
  }

  synchronized void releaseStorage() throws IOException {
    long removable = lower(pins, marks.begin());
    marks.advanceRemovable(removable);
    long floor = lower(retained, removable);
    if (floor > releasedUntil && !isClosed) {
      releasedUntil = floor;
      extents.truncate(floor);
      // An extent is verified as a whole, by checkpoints too, and is within one page.
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
