package io.fasterkv.log;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.memory.OwnThread;
import io.fasterkv.state.StoreFailure;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Retries writes for which the device had no space. Their pages stay in memory unchanged, and no
 * later page is written until all of them are. A thread, which exists only while there are such
 * writes, retries the oldest of them alone: after a pause that doubles from {@value
 * #FIRST_PAUSE_MILLIS} to {@value #LONGEST_PAUSE_MILLIS} milliseconds, or at once on request. When
 * it succeeds, the next one follows without a pause.
 *
 * <p>Operations that need room wait meanwhile. The device counts as failed, which ends all waits,
 * when no write has succeeded for some time since the first of these operations began to wait, or
 * when waiting was switched off.
 */
final class RefusedWrites implements AutoCloseable {
  static final long FIRST_PAUSE_MILLIS = 10;
  static final long LONGEST_PAUSE_MILLIS = 1000;

  private static final long NONE = -1;
  private static final long NOBODY = Long.MIN_VALUE;

  private final LogDevice device;
  private final StoreFailure failure;

  /** Starts a write from the first address to the second. */
  private final Writer writer;

  /** Refused ranges: first address to end. */
  private final TreeMap<Long, Long> ranges = new TreeMap<>();

  private @Nullable Thread thread;

  /** First address of the range that is being retried. */
  private long tried = NONE;

  private long pauseMillis;
  private long dueNanos;
  private boolean isClosed;
  private volatile long waitNanos;
  private volatile long refusals;
  private volatile @Nullable NoSpaceException cause;
  private volatile long wantedSinceNanos = NOBODY;

  /** Starts a write of a range. */
  interface Writer {
    void write(long from, long until);
  }

  /** Operations do not wait before {@link #waitAtMost} is called. */
  RefusedWrites(LogDevice device, StoreFailure failure, Writer writer) {
    this.device = device;
    this.failure = failure;
    this.writer = writer;
  }

  /** Sets how long operations that need room wait without a successful write. */
  void waitAtMost(long millis) {
    waitNanos = TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Whether no write is refused; otherwise nothing else may be written. */
  boolean isEmpty() {
    return cause == null;
  }

  /** Adds a refused write. */
  synchronized void add(long from, long until, NoSpaceException because) {
    ranges.put(from, until);
    refusals++;
    boolean isFirst = cause == null;
    cause = because;
    if (isFirst) {
      String line = "the disk is full; operations that need log memory wait: ";
      failure.logger().log(Level.WARNING, line + describe(from, because));
      pauseMillis = FIRST_PAUSE_MILLIS;
    } else if (from == tried) {
      pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
    }
    if (isFirst || from == tried) {
      tried = NONE;
      dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
    }
    if (thread == null && !isClosed) {
      // If the thread cannot be started, nothing would retry; so the caller fails and records that.
      Thread next = failure.thread("faster-flush-again", this::tryAgain);
      next.start();
      thread = next;
    }
    notifyAll();
  }

  /** Called when any write has succeeded. */
  void written(long from) {
    if (cause != null) {
      endTry(from);
    }
  }

  private synchronized void endTry(long from) {
    wantedSinceNanos = NOBODY;
    if (from != tried) {
      return;
    }
    tried = NONE;
    pauseMillis = FIRST_PAUSE_MILLIS;
    dueNanos = System.nanoTime();
    if (ranges.isEmpty()) {
      cause = null;
      failure.logger().log(Level.INFO, "the disk has space again: " + device.place(from));
    }
    notifyAll();
  }

  private void tryAgain() {
    for (Map.Entry<Long, Long> range = next(); range != null; range = next()) {
      writer.write(range.getKey(), range.getValue());
    }
  }

  /** Waits until the oldest write is due; returns null when there are none left. */
  private synchronized Map.@Nullable Entry<Long, Long> next() {
    while (!isClosed && cause != null && failure.get() == null) {
      long left = dueNanos - System.nanoTime();
      if (tried == NONE && left <= 0) {
        Map.Entry<Long, Long> oldest = ranges.pollFirstEntry();
        tried = oldest.getKey();
        return oldest;
      }
      try {
        TimeUnit.NANOSECONDS.timedWait(
            this, tried == NONE ? left : TimeUnit.MILLISECONDS.toNanos(LONGEST_PAUSE_MILLIS));
      } catch (InterruptedException e) {
        // An interrupt has no meaning here; close ends this thread.
        continue;
      }
    }
    thread = null;
    return null;
  }

  /**
   * Makes the oldest write due at once. Returns how many writes have been refused so far, for
   * {@link #isRefused}.
   */
  long tryNow() {
    if (cause != null) {
      synchronized (this) {
        dueNanos = System.nanoTime();
        notifyAll();
      }
    }
    return refusals;
  }

  /**
   * Whether a write below {@code address} is refused, and any write was refused since {@link
   * #tryNow}.
   */
  boolean isRefused(long address, long refusalsBefore) {
    return cause != null && refusals != refusalsBefore && isFirstRefusedBelow(address);
  }

  private synchronized boolean isFirstRefusedBelow(long address) {
    return !ranges.isEmpty() && ranges.firstKey() < address;
  }

  /** Also counts the write that is being tried again. */
  private synchronized boolean isRefusedBelow(long address) {
    return (tried != NONE && tried < address) || isFirstRefusedBelow(address);
  }

  /**
   * Called by an operation that finds no room, since not all below {@code address} is written. If
   * refused writes are the reason, the waiting ends after the time limit. If writes of later pages
   * were refused first, those of earlier pages may still succeed.
   */
  void roomWanted(long address) {
    NoSpaceException because = cause;
    if (because == null || !isRefusedBelow(address)) {
      return;
    }
    long now = System.nanoTime();
    if (wantedSinceNanos == NOBODY) {
      wantedSinceNanos = now;
    }
    long since = wantedSinceNanos;
    if (since != NOBODY && now - since >= waitNanos) {
      failure.accept(
          new IOException(
              "pages could not be written: "
                  + describe()
                  + ", waitedMillis="
                  + TimeUnit.NANOSECONDS.toMillis(since == NOBODY ? 0 : now - since)
                  + "; free space there, and open the store again from its last checkpoint",
              because));
    }
  }

  /** The place of the oldest refused write, and why it was refused. */
  synchronized String describe() {
    NoSpaceException because = cause;
    long from = ranges.isEmpty() ? tried : ranges.firstKey();
    return because == null || from == NONE ? "none" : describe(from, because);
  }

  @Nullable NoSpaceException cause() {
    return cause;
  }

  private String describe(long from, NoSpaceException because) {
    return device.place(from) + ", cause=" + because.getMessage();
  }

  /** Ends the retries; returns when no write is being started. */
  @Override
  public void close() {
    Thread last;
    synchronized (this) {
      isClosed = true;
      last = thread;
      notifyAll();
    }
    if (last != null) {
      OwnThread.awaitEnd(last);
    }
  }
}
