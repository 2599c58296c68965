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
   * was stopped within its epoch holds nobody up for as long as it takes to fill them.
   */
  private static final int MOST_SPARE_FRAMES = 16;

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
  private final long mutablePages;
  private final long spareFrames;
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
    mutablePages =
        Math.clamp(
            (long) (frames.count() * config.mutableFraction()),
            0,
            inMemory ? frames.count() : frames.count() - MIN_READ_ONLY_PAGES);
    spareFrames = Math.min(frames.count() / SPARE_SHARE, MOST_SPARE_FRAMES);
    long mostLeft = Math.min(spareFrames, frames.count() - MIN_READ_ONLY_PAGES - mutablePages);
    clearing = new FrameClearing(frames, marks, inMemory ? 0 : mostLeft / 2);
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
    if (!isClosed(frames.pageStart(page + 2 - frames.count())) || !tail.turn(page)) {
      return false;
    }
    space.turnedTo(page + 1);
    regions.advanceReadOnly(frames.pageStart(page + 1 - mutablePages));
    assist();
    frames.reached(page + 1);
    return true;
  }

  /** Whether the frames below {@code address} are clear; if not, helps to make them so. */
  private boolean isClosed(long address) {
    if (marks.closed() >= address) {
      return true;
    }
    assist();
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
    long wanted = frames.pageStart(tail.page() + 2 + spareFrames - frames.count());
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
