package io.fasterkv.log;

import io.fasterkv.epoch.Epochs;
import io.fasterkv.state.StoreFailure;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes frames of memory free for new pages. The thread that turns the tail to a new page moves the
 * read-only mark after it. When every thread has seen that, the pages below are immutable. With a
 * device ({@link DeviceTurns}) they are then flushed, and the head follows the flush; without one
 * ({@link MemoryTurns}) the head follows the begin address. When every thread has seen the head,
 * the frames are cleared and take new pages. None of these steps blocks.
 */
abstract sealed class PageTurns permits DeviceTurns, MemoryTurns {
  /** Minimum number of read-only pages between head and tail, so that flushing can keep up. */
  static final long MIN_READ_ONLY_PAGES = 2;

  /**
   * Frames kept free ahead of the tail, besides the one that it needs next. They let other threads
   * continue while a stopped thread holds its epoch.
   */
  private static final long MOST_SPARE_FRAMES = 16;

  /** Small frames may exceed {@link #MOST_SPARE_FRAMES} up to this total size. */
  private static final long MOST_SPARE_BYTES = 16 << 20;

  /** The part of all frames that is spare. */
  private static final int SPARE_SHARE = 16;

  private final Epochs epochs;
  private final StoreFailure failure;
  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final UpdateRegions regions;
  private final AddressSpace space;
  private final FrameClearing clearing;
  private final FrameWindow window;
  private final double mutableFraction;
  private final AtomicLong readOnlyAnnounced;
  private final AtomicLong headAnnounced;

  PageTurns(LogParts parts) {
    epochs = parts.epochs();
    failure = parts.failure();
    frames = parts.frames();
    marks = parts.marks();
    tail = parts.tail();
    regions = parts.regions();
    space = new AddressSpace(frames.pageBits(), tail.address(), parts.config().logger());
    window = frames.window();
    mutableFraction = parts.config().mutableFraction();
    clearing = new FrameClearing(frames, marks, this::clearedTogether, parts.config().logger());
    readOnlyAnnounced = new AtomicLong(marks.readOnly());
    headAnnounced = new AtomicLong(marks.head());
  }

  /** Maximum number of mutable pages if {@code pages} are in memory. */
  abstract long mostMutable(long pages);

  /** Number of frames that justify waking the clearing thread, or 0 to clear each one at once. */
  abstract long clearedTogether();

  /** Called when no thread changes anything below {@code address} any more. */
  abstract void becameImmutable(long address);

  /** Called when a thread needs the frames below {@code address}, which are not clear. */
  abstract void roomWanted(long address);

  /** Moves the head as far as frames may become free. */
  abstract void moveHead();

  /**
   * Turns from a full page to the next, if there is a free frame for the page after it; returns
   * whether this thread has done so.
   *
   * @throws io.fasterkv.api.StoreException.OutOfAddresses if there is no next page
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

  /** Whether the tail's page can be turned. */
  boolean hasRoom() {
    return marks.closed() >= neededClosed(tail.page());
  }

  /**
   * All frames below this address must be clear before {@code page} is turned, so that the next
   * page but one has a frame.
   */
  private long neededClosed(long page) {
    return frames.pageStart(page + 2 - window.pages());
  }

  /** Length up to which a log is entirely in memory, with the spare frames ahead of its tail. */
  long wholeBytes() {
    return (window.keptPages() - MIN_READ_ONLY_PAGES - 1 - spareFrames()) * frames.pageBytes();
  }

  final long mutablePages() {
    long pages = window.keptPages();
    return Math.clamp((long) (pages * mutableFraction), 0, mostMutable(pages));
  }

  final long spareFrames() {
    long most = Math.max(MOST_SPARE_FRAMES, MOST_SPARE_BYTES / frames.pageBytes());
    return Math.min(window.keptPages() / SPARE_SHARE, most);
  }

  /**
   * Moves the read-only mark after the tail, even if the tail has not moved but the window has
   * shrunk.
   */
  private void moveMarks() {
    regions.advanceReadOnly(frames.pageStart(tail.page() - mutablePages()));
    advance();
  }

  /** Makes frames free without a turn of the page. */
  void makeRoom() {
    moveMarks();
    clearing.clear(Long.MAX_VALUE);
  }

  FrameClearing clearing() {
    return clearing;
  }

  /** Whether the frames below {@code address} are clear; if not, helps to clear them. */
  private boolean isClosed(long address) {
    if (marks.closed() >= address) {
      return true;
    }
    moveMarks();
    clearing.clear(address);
    roomWanted(address);
    return marks.closed() >= address;
  }

  /** Advances the steps; throws if the log has failed. */
  void assist() {
    failure.throwIfSet();
    advance();
  }

  private void advance() {
    announceReadOnly();
    moveHead();
    epochs.drain();
  }

  /** Registers a trigger action for the latest move of the read-only mark. */
  void announceReadOnly() {
    long readOnly = marks.readOnly();
    if (readOnlyAnnounced.getAcquire() < readOnly
        && epochs.tryBump(() -> onReadOnlySafe(readOnly))) {
      readOnlyAnnounced.accumulateAndGet(readOnly, Math::max);
    }
  }

  private void onReadOnlySafe(long address) {
    marks.advanceSafeReadOnly(address);
    becameImmutable(address);
  }

  /** Registers a trigger action that clears the frames below {@code head}. */
  final void announceHead(long head) {
    if (headAnnounced.getAcquire() < head && epochs.tryBump(() -> clearing.left(head))) {
      headAnnounced.accumulateAndGet(head, Math::max);
    }
  }

  /** Ends the clearing thread; no other thread may use the memory afterwards. */
  void close() {
    clearing.close();
  }

  final PageFrames frames() {
    return frames;
  }

  final LogMarks marks() {
    return marks;
  }

  final FrameWindow window() {
    return window;
  }

  final long tailPage() {
    return tail.page();
  }
}
