package io.fasterkv.log;

import io.fasterkv.api.StoreConfig;
import io.fasterkv.epoch.Epochs;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How frames of memory become free for new pages. Whoever turns the tail to a new page moves the
 * read-only mark after it; when every thread has seen that, the pages below are flushed; when they
 * are flushed the head moves; when every thread has seen that, the frames are cleared and take new
 * pages. None of these steps waits.
 */
final class PageTurns {
  /** Pages between head and tail that are read-only at least, so that flushing can keep up. */
  private static final long MIN_READ_ONLY_PAGES = 2;

  /**
   * Frames that are kept free ahead of the tail, besides the one that it needs next: a thread that
   * was stopped within its epoch delays no other until they are full.
   */
  private static final long MOST_SPARE_FRAMES = 16;

  /** Small frames may exceed {@link #MOST_SPARE_FRAMES} up to this size together. */
  private static final long MOST_SPARE_BYTES = 16 << 20;

  /** One frame in so many is spare. */
  private static final int SPARE_SHARE = 16;

  private final Epochs epochs;
  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final PageFlusher flusher;
  private final UpdateRegions regions;
  private final Truncation truncation;
  private final AddressSpace space;
  private final FrameClearing clearing;
  private final boolean inMemory;
  private final FrameWindow window;
  private final double mutableFraction;
  private final AtomicLong readOnlyAnnounced;
  private final AtomicLong headAnnounced;

  /** What the steps move. */
  record Parts(
      PageFrames frames,
      LogMarks marks,
      TailAllocator tail,
      PageFlusher flusher,
      UpdateRegions regions,
      Truncation truncation) {}

  PageTurns(StoreConfig config, Epochs epochs, Parts parts) {
    this.epochs = epochs;
    frames = parts.frames();
    marks = parts.marks();
    tail = parts.tail();
    flusher = parts.flusher();
    regions = parts.regions();
    truncation = parts.truncation();
    space = new AddressSpace(frames.pageBits(), tail.address());
    inMemory = config.isInMemory();
    window = frames.window();
    mutableFraction = config.mutableFraction();
    clearing = new FrameClearing(frames, marks, this::clearedTogether);
    readOnlyAnnounced = new AtomicLong(marks.readOnly());
    headAnnounced = new AtomicLong(marks.head());
  }

  /**
   * Turns from a page that is full to the next, if there is a frame for the one after it; returns
   * whether this thread has.
   *
   * @throws io.fasterkv.api.StoreException.OutOfAddresses if there is no next one
   */
  boolean turn(long page) {
    space.requireAfter(page);
    if (!isClosed(neededClosed(page)) || !tail.turn(page)) {
      return false;
    }
    space.turnedTo(page + 1);
    moveMarks();
    frames.reached(page + 1);
    return true;
  }

  /** Whether the page that the tail is at can be turned. */
  boolean hasRoom() {
    return marks.closed() >= neededClosed(tail.page());
  }

  /**
   * Below it all frames are clear when {@code page} is turned, so that there is one for the next
   * but one.
   */
  private long neededClosed(long page) {
    return frames.pageStart(page + 2 - window.pages());
  }

  /** Pages of a log that is in memory as a whole, whatever is kept free ahead of its tail. */
  long wholePages() {
    return window.keptPages() - MIN_READ_ONLY_PAGES - 1 - spareFrames();
  }

  private long mutablePages() {
    long pages = window.keptPages();
    long most = inMemory ? pages : pages - MIN_READ_ONLY_PAGES;
    return Math.clamp((long) (pages * mutableFraction), 0, most);
  }

  /** Half of those that may be left while there is one for the tail. */
  private long clearedTogether() {
    long mostLeft = window.keptPages() - MIN_READ_ONLY_PAGES - mutablePages();
    return inMemory ? 0 : Math.min(spareFrames(), mostLeft) / 2;
  }

  private long spareFrames() {
    long most = Math.max(MOST_SPARE_FRAMES, MOST_SPARE_BYTES / frames.pageBytes());
    return Math.min(window.keptPages() / SPARE_SHARE, most);
  }

  /** The read-only mark follows the tail, also if that is where it was and the window smaller. */
  private void moveMarks() {
    regions.advanceReadOnly(frames.pageStart(tail.page() - mutablePages()));
    assist();
  }

  /** Makes frames free without a turn of the page. */
  void makeRoom() {
    moveMarks();
    clearing.clear(Long.MAX_VALUE);
  }

  FrameClearing clearing() {
    return clearing;
  }

  /** Whether the frames below {@code address} are clear; if not, helps to make them so. */
  private boolean isClosed(long address) {
    if (marks.closed() >= address) {
      return true;
    }
    moveMarks();
    clearing.clear(address);
    if (clearing.left() < address) {
      flusher.refused().roomWanted();
    }
    return marks.closed() >= address;
  }

  /** Helps the steps along. */
  void assist() {
    announceReadOnly();
    moveHead();
    epochs.drain();
  }

  /** Sees to it that an action follows the latest move of the read-only mark. */
  void announceReadOnly() {
    long readOnly = marks.readOnly();
    if (readOnlyAnnounced.getAcquire() < readOnly
        && epochs.tryBump(() -> onReadOnlySafe(readOnly))) {
      readOnlyAnnounced.accumulateAndGet(readOnly, Math::max);
    }
  }

  private void onReadOnlySafe(long address) {
    marks.advanceSafeReadOnly(address);
    if (inMemory) {
      marks.advanceFlushed(address);
    } else {
      flusher.flushUntil(address);
    }
  }

  /** The device has all bytes up to an address. */
  void flushed(long address) {
    marks.advanceFlushed(address);
    moveHead();
  }

  /** Keeps frames free ahead of the tail, as far as the flush has come. */
  void moveHead() {
    if (inMemory) {
      // Pinned readers look below the head as well.
      announceHead(Math.min(marks.head(), truncation.givenBackUntil()));
      return;
    }
    long wanted = frames.pageStart(tail.page() + 2 + spareFrames() - window.keptPages());
    long possible = frames.pageStart(frames.page(marks.flushed()));
    long target = Math.min(wanted, possible);
    if (target > marks.head()) {
      marks.advanceHead(target);
    }
    announceHead(marks.head());
  }

  /** Sees to it that the frames below {@code head} are cleared. */
  private void announceHead(long head) {
    if (headAnnounced.getAcquire() < head && epochs.tryBump(() -> clearing.left(head))) {
      headAnnounced.accumulateAndGet(head, Math::max);
    }
  }

  /** Nobody uses the memory any more but who calls this. */
  void close() {
    clearing.close();
  }
}
