package io.fasterkv.log;

import io.fasterkv.api.StoreException.DiskFull;
import io.fasterkv.api.session.CopyReads;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.record.RecordLayout;
import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * The room of a log with a device: a page is flushed when it has become read-only, and evicted when
 * the tail needs its frame. Sessions allocate by fetch-and-add and wait only for the flush, or for
 * the {@link TailLimit}.
 */
public final class DeviceRoom extends LogRoom {
  private final LogParts parts;
  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final TailLimit tailLimit;
  private final PageFlusher flusher;
  private final DeviceTurns turns;

  DeviceRoom(LogParts parts) {
    this.parts = parts;
    frames = parts.frames();
    marks = parts.marks();
    tail = parts.tail();
    tailLimit = parts.tailLimit();
    flusher =
        new PageFlusher(
            frames,
            parts.device(),
            parts.position().extents(),
            parts.position().endAddress(),
            this::flushed,
            parts.failure());
    flusher.refused().waitAtMost(parts.config().spaceWaitMillis());
    turns = new DeviceTurns(parts, flusher);
  }

  @Override
  PageTurns turns() {
    return turns;
  }

  @Override
  long allocate(long bytes, Claim claim) {
    // Read the page first: if another thread turns it meanwhile, this thread must not turn the next
    // one.
    long page = tail.page();
    if (isHeld(page)) {
      return HybridLog.RETRY;
    }
    long address = tail.allocate(bytes);
    if (address == TailAllocator.PAGE_FULL && turnPage(page)) {
      address = tail.allocate(bytes);
    }
    return orRetry(address);
  }

  @Override
  long allocateUpTo(long least, long most) {
    long page = tail.page();
    if (isHeld(page)) {
      return HybridLog.RETRY;
    }
    long address = tail.allocateUpTo(least, most);
    if (address == TailAllocator.PAGE_FULL && turnPage(page)) {
      address = tail.allocateUpTo(least, most);
    }
    return orRetry(address);
  }

  private boolean isHeld(long page) {
    return tailLimit.holds(frames.pageStart(page) - marks.begin());
  }

  private static long orRetry(long address) {
    return address == TailAllocator.PAGE_FULL ? HybridLog.RETRY : address;
  }

  /**
   * Turns a full page; returns whether this thread has done so and may allocate on the next page.
   */
  private boolean turnPage(long page) {
    parts.failure().throwIfSet();
    return turns.turn(page) && !isHeld(page + 1);
  }

  @Override
  long pinnedFrom() {
    return marks.head();
  }

  @Override
  void cutAt(long address) {
    flusher.endExtentAt(address);
  }

  @Override
  public void awaitFlushed(long address) {
    long refusals = flusher.refused().tryNow();
    EpochWait wait =
        new EpochWait(
            parts.epochs(), () -> "the device to have all bytes, " + parts.describe() + describe());
    while (marks.flushed() < address) {
      turns.assist();
      if (flusher.refused().isRefused(address, refusals)) {
        throw diskFull();
      }
      wait.pauseLonger();
    }
    parts.failure().throwIfSet();
  }

  private DiskFull diskFull() {
    return new DiskFull(
        "the disk is full: "
            + flusher.refused().describe()
            + "; free space there and ask again, nothing is lost: what could not be written is in"
            + " memory, and is tried again",
        flusher.refused().cause());
  }

  private void flushed(long address) {
    turns.flushed(address);
  }

  /** The head moves first, so that dropped records are not found in memory either. */
  @Override
  void beginMoves(long address) {
    marks.advanceHead(address);
    turns.moveHead();
  }

  @Override
  void beginMoved(long address) {}

  @Override
  void keepEnded() {}

  @Override
  void pinEnded() {}

  @Override
  void checkLarge(int keyBytes, int valueBytes) {}

  @Override
  boolean tryBeginChunks(int keyBytes, int valueBytes) {
    return true;
  }

  @Override
  void endChunks(long oldest, int keyBytes, int valueBytes) {}

  @Override
  void wroteChunks(long oldest, int keyBytes, int valueBytes) {}

  @Override
  int stagedPages() {
    return 1;
  }

  @Override
  public void force() throws IOException {
    try {
      parts.device().force();
    } catch (Throwable e) {
      parts.failure().accept(e);
      throw e;
    }
  }

  @Override
  public boolean writeForRoom() {
    return !turns.hasRoom() && parts.device().writeOne();
  }

  @Override
  public boolean isRefused() {
    return !flusher.refused().isEmpty();
  }

  @Override
  public void stopWaiting() {
    flusher.refused().waitAtMost(0);
  }

  @Override
  String describe() {
    return ", refused=" + flusher.refused().describe();
  }

  @Override
  void close() {
    flusher.close();
    turns.close();
  }

  @Override
  public void died(RecordLayout layout, long address) {}

  @Override
  public void died(long bytes) {}

  @Override
  public boolean reserveForks(LongSupplier guess, LongSupplier closer) {
    return true;
  }

  @Override
  public void releaseForks() {}

  @Override
  public boolean takesDeltas() {
    return true;
  }

  @Override
  public CopyReads readCopies(CopyReads wanted) {
    return wanted;
  }

  @Override
  public long storedBytes() {
    return marks.flushed() - parts.truncation().releasedUntil();
  }
}
