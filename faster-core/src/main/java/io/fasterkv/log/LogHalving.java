package io.fasterkv.log;

import io.fasterkv.epoch.Epochs;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Returns half of the log's memory to the system while operations continue.
 *
 * <ol>
 *   <li>The read-only mark and the head follow the tail more closely; the tail's limit stays.
 *   <li>When half of the frames are enough, the limit of the tail is lowered. If the tail stays
 *       ahead of the flush, the limit is lowered after some time anyway, and writers wait for the
 *       flush.
 *   <li>When every thread has seen the limit and the tail is within it, the other frames lose their
 *       memory.
 * </ol>
 */
public final class LogHalving {
  private static final int LEAST_PAGES = 16;
  private static final long LOOK_NANOS = 1_000_000;
  private static final int MOST_LOOKS = 1000;

  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final PageTurns turns;
  private final Epochs epochs;

  LogHalving(LogParts parts, PageTurns turns) {
    frames = parts.frames();
    marks = parts.marks();
    tail = parts.tail();
    epochs = parts.epochs();
    this.turns = turns;
  }

  /** Whether there is memory to release. */
  public boolean isPossible() {
    return frames.isResizable() && frames.window().pages() / 2 >= LEAST_PAGES;
  }

  /**
   * Releases half of the log's current memory and leaves the memory budget unchanged; returns the
   * number of bytes, or 0 if {@code mayContinue} became false first. Waits until the pages in that
   * half are on the device; operations continue. One caller at a time, which must not be protected.
   */
  public long run(BooleanSupplier mayContinue) {
    FrameWindow window = frames.window();
    long before = window.pages();
    long after = before / 2;
    window.keep(after);
    for (int i = 0; i < MOST_LOOKS && !isWithin(after - 1) && mayContinue.getAsBoolean(); i++) {
      pause();
    }
    window.limit(after);
    epochs.await(() -> {}, () -> "all to know how far the tail may go");
    while (!isWithin(after)) {
      if (!mayContinue.getAsBoolean()) {
        return 0;
      }
      pause();
    }
    frames.stopTouching();
    frames.useSmallPages();
    boolean isReleased = false;
    while (!isReleased) {
      isReleased = turns.clearing().between(() -> window.release(frames.page(marks.closed())));
    }
    return (before - after) * frames.pageBytes();
  }

  /** Whether all pages that are not closed fit this many frames. */
  private boolean isWithin(long pages) {
    return tail.page() < frames.page(marks.closed()) + pages;
  }

  private void pause() {
    turns.makeRoom();
    LockSupport.parkNanos(LOOK_NANOS);
  }
}
