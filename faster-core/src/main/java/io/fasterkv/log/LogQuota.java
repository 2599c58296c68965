package io.fasterkv.log;

import io.fasterkv.epoch.Epochs;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * Determines how many pages of the log have memory. The log can get more except during a release.
 * It returns memory to the system while operations continue:
 *
 * <ol>
 *   <li>The read-only mark and the head follow the tail more closely; the tail's limit stays.
 *   <li>When fewer frames are enough, the limit of the tail is lowered. If the tail stays ahead of
 *       the flush, the limit is lowered after some time anyway, and writers wait for the flush.
 *   <li>When every thread has seen the limit and the tail is within it, the other frames lose their
 *       memory.
 * </ol>
 *
 * <p>If the caller gives up, or a step throws, before the last step, the log keeps all its memory.
 */
public final class LogQuota {
  /** What a log keeps at least. */
  private static final int LEAST_PAGES = 16;

  private static final long LOOK_NANOS = 1_000_000;
  private static final int MOST_LOOKS = 1000;

  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final PageTurns turns;
  private final Epochs epochs;

  /** Held while the quota changes. */
  private final ReentrantLock turn = new ReentrantLock();

  LogQuota(LogParts parts, PageTurns turns) {
    frames = parts.frames();
    marks = parts.marks();
    tail = parts.tail();
    epochs = parts.epochs();
    this.turns = turns;
  }

  /** Whether half of the memory can be released. */
  public boolean canHalve() {
    return frames.isResizable() && frames.window().pages() / 2 >= LEAST_PAGES;
  }

  /** Number of bytes that can be released: whole pages; 0 if the system does not support it. */
  public long releasableBytes() {
    long pages = frames.window().pages() - LEAST_PAGES;
    return frames.isResizable() ? Math.max(0, pages) * frames.pageBytes() : 0;
  }

  /** Number of bytes that the log can get in addition to what it has: whole pages. */
  public long acceptableBytes() {
    long pages = frames.count() - frames.window().pages();
    return frames.isResizable() ? pages * frames.pageBytes() : 0;
  }

  /** The memory that the log keeps its records in. */
  public long memoryBytes() {
    return frames.window().keptPages() * frames.pageBytes();
  }

  /**
   * Like {@link #release}, of half of the log's memory, or of {@code most} bytes if that is less; 0
   * if half of it would leave too little.
   */
  public long halve(long most, BooleanSupplier mayContinue) {
    long half = frames.window().pages() * frames.pageBytes() / 2;
    return canHalve() ? release(Math.min(half, most), mayContinue) : 0;
  }

  /**
   * Releases {@code bytes} of the log's memory, rounded up to whole pages, or all that it can, and
   * leaves the memory budget unchanged. Returns the number of bytes released, or 0 if {@code
   * mayContinue} became false first. Waits until the oldest pages are on the device; operations
   * continue, but writers may have to wait too. The caller must not be protected.
   */
  public long release(long bytes, BooleanSupplier mayContinue) {
    if (bytes <= 0 || !take(mayContinue)) {
      return 0;
    }
    try {
      long pages = Math.ceilDiv(Math.min(bytes, releasableBytes()), frames.pageBytes());
      return pages > 0 ? lower(frames.window().pages() - pages, mayContinue) : 0;
    } finally {
      turn.unlock();
    }
  }

  /**
   * Gives the log up to {@code bytes} more memory, in whole pages, which the budget already has for
   * it; none while memory is being released.
   *
   * @param raised receives how many bytes the log has received, also if a step throws
   */
  public void raise(long bytes, LongConsumer raised) {
    if (!turn.tryLock()) {
      raised.accept(0);
      return;
    }
    FrameWindow window = frames.window();
    long before = window.pages();
    try {
      long wanted = before + Math.min(bytes, acceptableBytes()) / frames.pageBytes();
      boolean isRaised = wanted == before;
      while (!isRaised) {
        isRaised =
            turns.clearing().between(() -> window.raise(frames.page(marks.closed()), wanted));
      }
    } finally {
      raised.accept((window.pages() - before) * frames.pageBytes());
      turn.unlock();
    }
  }

  /** Waits for the turn, which another caller may hold for long; false if the caller gives up. */
  private boolean take(BooleanSupplier mayContinue) {
    while (!turn.tryLock()) {
      if (!mayContinue.getAsBoolean()) {
        return false;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return true;
  }

  private long lower(long after, BooleanSupplier mayContinue) {
    FrameWindow window = frames.window();
    long before = window.pages();
    boolean isWithin = false;
    try {
      isWithin = bringWithin(after, mayContinue);
    } finally {
      if (!isWithin) {
        // No frame has lost its memory yet.
        window.limit(before);
        window.keep(before);
      }
    }
    if (!isWithin) {
      return 0;
    }
    boolean isReleased = false;
    while (!isReleased) {
      isReleased = turns.clearing().between(() -> window.release(frames.page(marks.closed())));
    }
    return (before - after) * frames.pageBytes();
  }

  /** Returns whether no thread uses more frames, or will. */
  private boolean bringWithin(long after, BooleanSupplier mayContinue) {
    FrameWindow window = frames.window();
    window.keep(after);
    for (int i = 0; i < MOST_LOOKS && !isWithin(after - 1) && mayContinue.getAsBoolean(); i++) {
      pause();
    }
    if (!mayContinue.getAsBoolean()) {
      return false;
    }
    window.limit(after);
    epochs.await(() -> {}, () -> "all to know how far the tail may go");
    while (!isWithin(after)) {
      if (!mayContinue.getAsBoolean()) {
        return false;
      }
      pause();
    }
    return true;
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
