package io.fasterkv.log;

import io.fasterkv.memory.OwnThread;
import java.lang.System.Logger;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Clears frames that no thread uses any more. Clearing a page takes as long as writing a hundred
 * records, and a thread that turns a page has a record to write. So a separate thread clears
 * several frames together, ahead of the tail. A thread that needs a frame which is not clear yet
 * does not wait for that thread but clears one itself.
 */
final class FrameClearing implements AutoCloseable {
  private final PageFrames frames;
  private final LogMarks marks;
  private final LongSupplier together;
  private final Logger logger;
  private final AtomicBoolean isClearing = new AtomicBoolean();
  private final Thread thread =
      Thread.ofPlatform().daemon().name("faster-clear").unstarted(this::run);
  private volatile long left;
  private volatile boolean isClosed;

  /** Written by one trigger action at a time, each ordered after the one before. */
  private boolean isStarted;

  /**
   * @param together number of frames that justify waking the thread, or 0 to clear each one at once
   */
  FrameClearing(PageFrames frames, LogMarks marks, LongSupplier together, Logger logger) {
    this.frames = frames;
    this.marks = marks;
    this.together = together;
    this.logger = logger;
    left = marks.closed();
  }

  /** Called when no thread uses memory below {@code address} any more; one caller at a time. */
  void left(long address) {
    left = Math.max(left, address);
    long pages = together.getAsLong();
    if (pages == 0) {
      clear(Long.MAX_VALUE);
    } else if (left - marks.closed() >= pages * frames.pageBytes()) {
      wake();
    }
  }

  /** No thread uses memory below this address any more. */
  long left() {
    return left;
  }

  /** Clears the released frames up to {@code until}, unless another thread is clearing. */
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

  /** Runs an action while nothing is being cleared; spins until that is so. */
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
    OwnThread.tryStart(thread, "threads that need a frame clear it themselves", logger);
  }

  /** Ends the thread; the memory may be freed afterwards. */
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
