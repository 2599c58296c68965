package io.fasterkv.log;

import io.fasterkv.epoch.EpochWait;
import io.fasterkv.epoch.Epochs;
import io.fasterkv.memory.Words;
import io.fasterkv.record.RecordInfo;

/**
 * Makes parts of the log immutable: for good, as the end of a fold-over checkpoint or a cut, or
 * until a snapshot of them is written.
 */
public final class LogCuts {
  private final Epochs epochs;
  private final PageFrames frames;
  private final LogMarks marks;
  private final TailAllocator tail;
  private final UpdateRegions regions;
  private final LogParts parts;
  private final LogRoom room;
  private final PageTurns turns;
  private final long sectorBytes;

  LogCuts(LogParts parts, LogRoom room) {
    this.parts = parts;
    this.room = room;
    epochs = parts.epochs();
    frames = parts.frames();
    marks = parts.marks();
    tail = parts.tail();
    regions = parts.regions();
    turns = room.turns();
    sectorBytes = parts.device().sectorBytes();
  }

  /**
   * Makes everything allocated so far read-only and returns the end address. The caller must be
   * protected, so that nothing is flushed before this is done. Records below the address are
   * immutable for every operation that starts after this returns, on any thread that has refreshed.
   */
  public long foldOver() {
    long end;
    regions.beginCut();
    try {
      end = alignTail();
      room.cutAt(end);
      regions.advanceReadOnly(end);
    } finally {
      regions.endCut();
    }
    turns.announceReadOnly();
    return end;
  }

  /** Moves the tail to the next sector of the device; the caller must be protected. */
  private long alignTail() {
    long unit = sectorBytes;
    long endAndGap = tail.align(unit);
    long end = endAndGap & -unit;
    long gapBytes = endAndGap - end;
    if (gapBytes > 0) {
      Words.storeRelease(
          frames.memory(), frames.offset(end - gapBytes), RecordInfo.padding(gapBytes));
    }
    return end;
  }

  /**
   * Freezes everything allocated so far without making it read-only: until {@link #thawSnapshot()},
   * no operation that starts after this returns updates anything below the returned address in
   * place. The caller must be protected; one freeze at a time. {@link #awaitFrozen} waits for
   * earlier operations.
   */
  public long freezeForSnapshot() {
    long end = alignTail();
    regions.beginFreeze(end);
    return end;
  }

  /**
   * Waits until no thread changes anything below {@code end}, which {@link #freezeForSnapshot} has
   * returned; the caller must not be protected.
   */
  public void awaitFrozen(long end) {
    epochs.await(() -> regions.frozen(end), () -> "records to become frozen, " + describe());
  }

  /**
   * Allows in-place updates of frozen records again, unless they are read-only; the caller must not
   * be protected. A thread that still sees the freeze may be copying a record. So this first ends
   * the mark that makes threads copy, and the other mark after all threads have seen that.
   */
  public void thawSnapshot() {
    regions.beginThaw();
    epochs.await(() -> {}, () -> "copies of frozen records to end, " + describe());
    regions.endThaw();
  }

  /**
   * Makes everything below {@code address} immutable and waits until it is, and until it is on the
   * device if there is one. The address must be the start of a page, at most the tail page. The
   * caller must not be protected.
   */
  public void freeze(long address) {
    regions.advanceReadOnly(address);
    turns.announceReadOnly();
    room.awaitFlushed(address);
  }

  /**
   * Waits until no thread changes anything below {@code address}; the caller must not be protected.
   */
  public void awaitImmutable(long address) {
    EpochWait wait = new EpochWait(epochs, () -> "records to become immutable, " + describe());
    while (marks.safeReadOnly() < address) {
      turns.assist();
      wait.pause();
    }
  }

  private String describe() {
    return parts.describe() + room.describe();
  }
}
