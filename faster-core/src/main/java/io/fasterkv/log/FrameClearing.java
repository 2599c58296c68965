package io.fasterkv.log;

import io.fasterkv.memory.OwnThread;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Makes frames zero that nobody looks into any more. To clear a page takes as long as a hundred
 * records, and who turns one has a record to write: so a few are cleared together, on a thread of
 * their own, ahead of the tail. Who needs a frame that is not clear yet does not wait for that
 * thread and clears one.
 */
final class FrameClearing implements AutoCloseable {
  private final PageFrames frames;
  private final LogMarks marks;
  private final LongSupplier together;
  private final AtomicBoolean isClearing = new AtomicBoolean();
  private final Thread thread =
      Thread.ofPlatform().daemon().name("faster-clear").unstarted(this::run);
  private volatile long left;
  private volatile boolean isClosed;

  /** Written by one action at a time, each after the one before. */
  private boolean isStarted;

  /**
   * @param together how many frames are worth waking a thread, or 0 to clear each at once
   */
  FrameClearing(PageFrames frames, LogMarks marks, LongSupplier together) {
    this.frames = frames;
    this.marks = marks;
    this.together = together;
    left = marks.closed();
  }

  /** Nobody looks into memory below {@code address} any more; one caller at a time. */
  void left(long address) {
    left = Math.max(left, address);
    long pages = together.getAsLong();
    if (pages == 0) {
      clear(Long.MAX_VALUE);
    } else if (left - marks.closed() >= pages * frames.pageBytes()) {
      wake();
    }
  }

  /** Nobody looks into memory below it any more. */
  long left() {
    return left;
  }

  /** Clears the frames that are left, up to {@code until}, unless another thread is at it. */
  void clear(long until) {
    if (!isClearing.compareAndSet(false, true)) {
      return;
    }
    try {
      long end = Math.min(left, until);
      long at = marks.closed();
      for (long next = frames.pageEnd(at); next <= end; next = frames.pageEnd(at)) {
        frames.window().clear(frames.page(at));
        marks.advanceClosed(next);
        at = next;
      }
      marks.advanceClosed(end);
    } finally {
      isClearing.set(false);
    }
  }

  /** Does something while nothing is cleared, and waits for that. */
  boolean between(BooleanSupplier action) {
    while (!isClearing.compareAndSet(false, true)) {
      Thread.onSpinWait();
    }
    try {
      return action.getAsBoolean();
    } finally {
      isClearing.set(false);
    }
  }

  private void wake() {
    if (isStarted) {
      LockSupport.unpark(thread);
      return;
    }
    isStarted = true;
    OwnThread.tryStart(thread, "threads that need a frame clear it themselves");
  }

  /** Ends the thread; the memory may be given back then. */
  @Override
  public void close() {
    isClosed = true;
    OwnThread.awaitEnd(thread);
  }

  private void run() {
    while (!isClosed) {
      clear(Long.MAX_VALUE);
      LockSupport.park(this);
    }
  }
}
