package io.fasterkv.log;

import io.fasterkv.epoch.Epochs;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Gives half of the log's memory back to the system, beside any number of operations.
 *
 * <ol>
 *   <li>The read-only mark and the head follow the tail more closely; the tail goes on.
 *   <li>When half of the frames would do, the tail is kept within as many. If it is always ahead of
 *       the flush, that is done after some time, and who writes waits for the flush.
 *   <li>When every thread has seen that, and the tail is within, the other frames lose their
 *       memory.
 * </ol>
 */
final class LogHalving {
  private static final int LEAST_PAGES = 16;
  private static final long LOOK_NANOS = 1_000_000;
  private static final int MOST_LOOKS = 1000;

  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final PageTurns turns;
  private final Epochs epochs;

  LogHalving(
      PageFrames frames, LogMarks marks, TailAllocator tail, PageTurns turns, Epochs epochs) {
    this.frames = frames;
    this.marks = marks;
    this.tail = tail;
    this.turns = turns;
    this.epochs = epochs;
  }

  /** Whether there is memory to give. */
  boolean isPossible() {
    return frames.isResizable() && frames.window().pages() / 2 >= LEAST_PAGES;
  }

  /**
   * Gives half of it; returns how many bytes that is, or 0 if {@code goesOn} has said no before
   * that was done. One caller at a time, which is not protected.
   */
  long run(BooleanSupplier goesOn) {
    FrameWindow window = frames.window();
    long before = window.pages();
    long after = before / 2;
    window.keep(after);
    for (int i = 0; i < MOST_LOOKS && !isWithin(after - 1) && goesOn.getAsBoolean(); i++) {
      pause();
    }
    window.limit(after);
    epochs.await(() -> {}, () -> "all to know how far the tail may go");
    while (!isWithin(after)) {
      if (!goesOn.getAsBoolean()) {
        return 0;
      }
      pause();
    }
    frames.touchNoMore();
    frames.useSmallPages();
    boolean isReleased = false;
    while (!isReleased) {
      isReleased = turns.clearing().between(() -> window.release(frames.page(marks.closed())));
    }
    return (before - after) * frames.pageBytes();
  }

  /** Whether so many frames have all pages that are not closed. */
  private boolean isWithin(long pages) {
    return tail.page() < frames.page(marks.closed()) + pages;
  }

  private void pause() {
    turns.makeRoom();
    LockSupport.parkNanos(LOOK_NANOS);
  }
}
