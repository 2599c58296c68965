package io.fasterkv.log;

import io.fasterkv.api.session.CopyReads;
import io.fasterkv.epoch.EpochWait;
import io.fasterkv.record.Address;
import io.fasterkv.record.LargeAnchor;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.record.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/**
 * The room of a log without a device: a page's frame becomes free when compaction has moved the
 * begin past the page and no reader has pinned it. Sessions allocate within a page, by
 * compare-and-set, and only on pages that {@link MemoryReserve} grants them.
 */
public final class MemoryRoom extends LogRoom {
  private final LogParts parts;
  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final TailLimit tailLimit;
  private final MemoryReserve reserve;
  private final MemoryTurns turns;

  MemoryRoom(LogParts parts) {
    this.parts = parts;
    frames = parts.frames();
    marks = parts.marks();
    tail = parts.tail();
    tailLimit = parts.tailLimit();
    reserve = new MemoryReserve(parts);
    turns = new MemoryTurns(parts);
  }

  /** Limits how far the log may grow. */
  public MemoryReserve reserve() {
    return reserve;
  }

  @Override
  PageTurns turns() {
    return turns;
  }

  @Override
  long allocate(long bytes, Claim claim) {
    return allocate(bytes, bytes, claim);
  }

  @Override
  long allocateUpTo(long least, long most) {
    return allocate(least, most, Claim.RECORD);
  }

  private long allocate(long least, long most, Claim claim) {
    long page = tail.page();
    long lastPage = reserve.lastPage(claim);
    boolean isMover = page >= lastPage && tailLimit.isMover();
    if (isMover) {
      lastPage = reserve.lastPageForMover();
    }
    if (page <= lastPage) {
      long address = tail.allocateOn(page, least, most);
      if (address != TailAllocator.PAGE_FULL) {
        noteTaken(least, claim);
        return address;
      }
      if (page < lastPage) {
        parts.failure().throwIfSet();
        turns.turn(page);
        return HybridLog.RETRY;
      }
    }
    parts.failure().throwIfSet();
    if (isMover) {
      reserve.requestMover(least);
    } else {
      reserve.requestRoom(least, claim);
    }
    return HybridLog.RETRY;
  }

  private void noteTaken(long bytes, Claim claim) {
    if (claim == Claim.FORK) {
      reserve.forked();
    } else if (reserve.isRunning() && !tailLimit.isMover()) {
      reserve.took(bytes);
    }
  }

  /** Pinned readers also read below the head. */
  @Override
  long pinnedFrom() {
    return marks.closed();
  }

  @Override
  void cutAt(long address) {}

  @Override
  public void awaitFlushed(long address) {
    EpochWait wait =
        new EpochWait(parts.epochs(), () -> "records to become immutable, " + parts.describe());
    while (marks.flushed() < address) {
      turns.assist();
      wait.pauseLonger();
    }
    parts.failure().throwIfSet();
  }

  @Override
  void beginMoves(long address) {}

  /**
   * The head follows the begin address; otherwise a thread could briefly look for dropped records
   * on disk.
   */
  @Override
  void beginMoved(long address) {
    marks.advanceHead(address);
    pinEnded();
  }

  @Override
  void keepEnded() {
    reserve.reconsider();
  }

  @Override
  void pinEnded() {
    reserve.dropped();
    turns.moveHead();
  }

  @Override
  void checkLarge(int keyBytes, int valueBytes) {
    reserve.checkLarge(keyBytes, valueBytes);
  }

  @Override
  boolean tryBeginChunks(int keyBytes, int valueBytes) {
    return reserve.large().tryBegin(reserve.largePages(keyBytes, valueBytes));
  }

  @Override
  void endChunks(long oldest, int keyBytes, int valueBytes) {
    if (oldest == Address.NONE) {
      reserve.large().giveUp();
    } else {
      reserve.large().written(oldest, reserve.largePages(keyBytes, valueBytes), true);
    }
  }

  @Override
  void wroteChunks(long oldest, int keyBytes, int valueBytes) {
    reserve.large().written(oldest, reserve.largePages(keyBytes, valueBytes), false);
  }

  /** With two pages, a chunk fills its page, so a copy needs no more pages than were reserved. */
  @Override
  int stagedPages() {
    return 2;
  }

  @Override
  public void force() {}

  @Override
  public boolean writeForRoom() {
    return false;
  }

  @Override
  public boolean isRefused() {
    return false;
  }

  @Override
  public void stopWaiting() {}

  @Override
  String describe() {
    return "";
  }

  @Override
  void close() {
    turns.close();
  }

  @Override
  public void died(RecordLayout layout, long address) {
    MemorySegment memory = frames.memory();
    long record = frames.offset(address);
    long bytes = layout.recordBytes(memory, record);
    LargeAnchor anchor =
        RecordInfo.isLarge(RecordLayout.info(memory, record))
            ? LargeAnchor.read(memory, record)
            : null;
    reserve.died(anchor == null ? bytes : bytes + anchor.bytes());
  }

  @Override
  public void died(long bytes) {
    reserve.died(bytes);
  }

  @Override
  public boolean reserveForks(LongSupplier guess, LongSupplier closer) {
    return reserve.reserveForks(guess.getAsLong()) || reserve.reserveForks(closer.getAsLong());
  }

  @Override
  public void releaseForks() {
    reserve.releaseForks();
  }

  /**
   * The fuzzy region is the page that compaction takes next, for one epoch only, and an operation
   * that waits for it needs no room.
   */
  @Override
  public boolean takesDeltas() {
    return false;
  }

  /** All records are in memory, and compaction is about to move the read-only ones. */
  @Override
  public CopyReads readCopies(CopyReads wanted) {
    return CopyReads.NEVER;
  }

  @Override
  public long storedBytes() {
    return 0;
  }

  @Override
  public String toString() {
    return reserve.toString();
  }
}
