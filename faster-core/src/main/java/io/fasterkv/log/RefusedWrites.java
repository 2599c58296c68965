package io.fasterkv.log;

import io.fasterkv.device.LogDevice;
import io.fasterkv.device.NoSpaceException;
import io.fasterkv.epoch.StoreFailure;
import io.fasterkv.memory.OwnThread;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Writes that the device had no space for. Their pages stay in memory as they are, and no later
 * page is written until all of them are. A thread, which is there as long as there are such writes,
 * tries the oldest of them again, alone: after a pause that doubles from {@value
 * #FIRST_PAUSE_MILLIS} to {@value #LONGEST_PAUSE_MILLIS} milliseconds, or at once when somebody
 * asks for it. When it succeeds the next one follows without a pause.
 *
 * <p>Operations that need room wait meanwhile. When no write has succeeded for some time since one
 * of them came, or nobody is to wait any more, the device counts as failed, which ends all waiting.
 */
final class RefusedWrites implements AutoCloseable {
  static final long FIRST_PAUSE_MILLIS = 10;
  static final long LONGEST_PAUSE_MILLIS = 1000;

  private static final Logger LOG = System.getLogger("io.fasterkv");
  private static final long NONE = -1;
  private static final long NOBODY = Long.MIN_VALUE;

  private final LogDevice device;
  private final StoreFailure failure;

  /** Starts to write what lies from the first address up to the second. */
  private final Writer writer;

  /** First address to end. */
  private final TreeMap<Long, Long> ranges = new TreeMap<>();

  private @Nullable Thread thread;

  /** The first address of the range that is being tried again. */
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

  /** Nobody waits until {@link #waitAtMost} has said how long. */
  RefusedWrites(LogDevice device, StoreFailure failure, Writer writer) {
    this.device = device;
    this.failure = failure;
    this.writer = writer;
  }

  /** Says how long operations that need room wait without a write that succeeds. */
  void waitAtMost(long millis) {
    waitNanos = TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Whether there are none: nobody writes anything else meanwhile. */
  boolean isEmpty() {
    return cause == null;
  }

  /** A write was refused. */
  synchronized void add(long from, long until, NoSpaceException because) {
    ranges.put(from, until);
    refusals++;
    boolean isFirst = cause == null;
    cause = because;
    if (isFirst) {
      LOG.log(Level.WARNING, "the disk is full, writers wait: " + describe(from, because));
      pauseMillis = FIRST_PAUSE_MILLIS;
    } else if (from == tried) {
      pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
    }
    if (isFirst || from == tried) {
      tried = NONE;
      dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
    }
    if (thread == null && !isClosed) {
      // If the thread cannot be started, nothing would retry, so the caller fails and records that.
      Thread next = failure.thread("faster-flush-again", this::tryAgain);
      next.start();
      thread = next;
    }
    notifyAll();
  }

  /** A write has succeeded, be it one of these or not. */
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
      LOG.log(Level.INFO, "the disk has space again: " + device.place(from));
    }
    notifyAll();
  }

  private void tryAgain() {
    for (Map.Entry<Long, Long> range = next(); range != null; range = next()) {
      writer.write(range.getKey(), range.getValue());
    }
  }

  /** Waits until the oldest is due; null when there are none any more. */
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
        // Nobody has a reason to interrupt this thread; close says when to end.
        continue;
      }
    }
    thread = null;
    return null;
  }

  /**
   * Has the oldest tried without a pause. Returns how many writes have been refused so far, for
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

  /** Whether a write below {@code address} is refused, and one was since {@link #tryNow}. */
  boolean isRefused(long address, long refusalsBefore) {
    if (cause == null || refusals == refusalsBefore) {
      return false;
    }
    synchronized (this) {
      return !ranges.isEmpty() && ranges.firstKey() < address;
    }
  }

  /** Somebody who needs room finds none. Where these writes are why, it ends some time. */
  void roomWanted() {
    NoSpaceException because = cause;
    if (because == null) {
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

  /** The place that the oldest of them is for, and why it was refused. */
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

  /** Nothing is tried again; returns when nothing is being started. */
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
