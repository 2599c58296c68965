package io.fasterkv.log;

import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.record.Address;
import java.io.IOException;

/**
 * What keeps parts of the log although its begin moves: readers that have pinned it, and
 * checkpoints that are made of it. What nobody holds any more is given back at once.
 */
public final class LogHolds {
  private final LogMarks marks;
  private final Truncation truncation;
  private final Runnable keptNoMore;
  private final Runnable letGo;

  /**
   * @param keptNoMore called when a pin has ended that was not brief
   * @param letGo called when a pin of either kind has ended, after that
   */
  LogHolds(LogMarks marks, Truncation truncation, Runnable keptNoMore, Runnable letGo) {
    this.marks = marks;
    this.truncation = truncation;
    this.keptNoMore = keptNoMore;
    this.letGo = letGo;
  }

  /**
   * Keeps all that the log holds now, on disk and in the index, even if its begin moves, until
   * {@link #unpin}, which the caller of the store decides about. Returns the begin.
   */
  public long pin() {
    return truncation.pin();
  }

  /** Ends a {@link #pin}. */
  public void unpin(long begin) {
    remove(() -> truncation.unpin(begin));
    keptNoMore.run();
    letGo.run();
  }

  /** As {@link #pin}, until {@link #unpinBrief}, which comes whatever the store's caller does. */
  public long pinBriefly() {
    return truncation.pinBriefly();
  }

  /** Ends a {@link #pinBriefly}. */
  public void unpinBrief(long begin) {
    remove(() -> truncation.unpinBrief(begin));
    letGo.run();
  }

  /** Keeps the device's bytes from {@code address} on, until {@link #release}. */
  public void retain(long address) {
    truncation.retain(address);
  }

  /** Ends a {@link #retain}. */
  public void release(long address) {
    remove(() -> truncation.release(address));
  }

  /** Gives back what the device has below all that is needed, for example after a restart. */
  public void giveBack() {
    remove(truncation::giveBack);
  }

  /** The first address that the device still keeps. */
  public long storedFrom() {
    return truncation.givenBackUntil();
  }

  /**
   * Whether storage stays when the begin moves on: a checkpoint, or a cut, scan or history of the
   * store's caller, needs it.
   */
  public boolean isHeld() {
    return truncation.isHeld();
  }

  /** Bytes below the begin that the device still keeps. */
  public long heldBytes() {
    return Math.max(0, marks.begin() - Math.max(truncation.givenBackUntil(), Address.FIRST));
  }

  /** Moves the log's begin. */
  void advanceBegin(long address) {
    remove(() -> truncation.advanceBegin(address));
  }

  /** Removes nothing any more. */
  void close() {
    truncation.close();
  }

  private interface Removal {
    void run() throws IOException;
  }

  private static void remove(Removal removal) {
    try {
      removal.run();
    } catch (IOException e) {
      throw new DeviceFailed("old segments could not be removed: " + e.getMessage(), e);
    }
  }
}
