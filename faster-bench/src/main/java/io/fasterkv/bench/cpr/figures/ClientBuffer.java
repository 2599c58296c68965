package io.fasterkv.bench.cpr.figures;

import io.fasterkv.bench.cpr.experiment.RunClock;
import java.util.concurrent.locks.LockSupport;

/**
 * The requests of one client that are not durable yet, 16 bytes each, so that it could repeat them
 * after a crash (FASTER's CPR, section 7.3.4). The client adds requests; commits remove them; a
 * full buffer makes the client wait.
 */
final class ClientBuffer {
  static final int ENTRY_BYTES = 16;

  private static final double ASK_AT = 0.8;
  private static final long NAP_NANOS = 20_000;

  private final long[] keys;
  private final long[] values;
  private final Commits commits;
  private final RunClock clock;
  private final long askAt;

  /** Used by the client only: its requests so far, and how many of them it knows to be durable. */
  private long serial;

  private long trimmed;

  /** Number of durable requests; written by commits. */
  private volatile long durable;

  /** Makes requests durable on request. */
  @FunctionalInterface
  interface Commits {
    /** Requests a commit; does not wait for it. */
    void ask();
  }

  ClientBuffer(long bytes, Commits commits, RunClock clock) {
    int entries = Math.toIntExact(Math.max(1, bytes / ENTRY_BYTES));
    keys = new long[entries];
    values = new long[entries];
    askAt = Math.max(1, (long) (entries * ASK_AT));
    this.commits = commits;
    this.clock = clock;
  }

  /**
   * Stores a request that the client is about to make; returns false if the run has ended and it
   * must not be made.
   */
  boolean keep(long key, long value) {
    if (serial - trimmed >= askAt && !makeRoom()) {
      return false;
    }
    int at = (int) (serial % keys.length);
    keys[at] = key;
    values[at] = value;
    serial++;
    return true;
  }

  private boolean makeRoom() {
    trimmed = durable;
    if (serial - trimmed >= askAt) {
      commits.ask();
    }
    while (serial - trimmed >= keys.length) {
      if (clock.isOver()) {
        return false;
      }
      LockSupport.parkNanos(NAP_NANOS);
      trimmed = durable;
      commits.ask();
    }
    return true;
  }

  /** Removes all requests up to a point, which are durable. */
  void trim(long point) {
    durable = point;
  }
}
