package io.fasterkv.log;

import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.record.Address;
import java.io.IOException;

/**
 * Keeps parts of the log after its begin has moved: those that readers have pinned, and those that
 * checkpoints consist of. Releases a part as soon as nothing keeps it.
 */
public final class LogPins {
  private final LogMarks marks;
  private final Truncation truncation;
  private final Runnable onUnkept;
  private final Runnable onUnpin;

  /**
   * @param onUnkept called when a pin that is not brief has ended
   * @param onUnpin called when a pin of either kind has ended, after onUnkept
   */
  LogPins(LogMarks marks, Truncation truncation, Runnable onUnkept, Runnable onUnpin) {
    this.marks = marks;
    this.truncation = truncation;
    this.onUnkept = onUnkept;
    this.onUnpin = onUnpin;
  }

  /**
   * Keeps everything that the log holds now, on disk and in the index, until {@link #unpin}, even
   * if its begin moves. The store's caller decides when that is. Returns the begin address.
   */
  public long pin() {
    return truncation.pin();
  }

  /** Ends a {@link #pin}. */
  public void unpin(long begin) {
    remove(() -> truncation.unpin(begin));
    onUnkept.run();
    onUnpin.run();
  }

  /** Like {@link #pin}, until {@link #unpinBrief}, which does not depend on the store's caller. */
  public long pinBriefly() {
    return truncation.pinBriefly();
  }

  /** Ends a {@link #pinBriefly}. */
  public void unpinBrief(long begin) {
    remove(() -> truncation.unpinBrief(begin));
    onUnpin.run();
  }

  /** Keeps the device's bytes from {@code address} on until {@link #release}. */
  public void retain(long address) {
    truncation.retain(address);
  }

  /** Ends a {@link #retain}. */
  public void release(long address) {
    remove(() -> truncation.release(address));
  }

  /** Deletes what the device has below everything that is needed, for example after a restart. */
  public void releaseStorage() {
    remove(truncation::releaseStorage);
  }

  /** The first address that the device still keeps. */
  public long storedFrom() {
    return truncation.releasedUntil();
  }

  /**
   * Whether storage is kept when the begin address moves, because a checkpoint needs it, or a cut,
   * scan or history of the store's caller.
   */
  public boolean isHeld() {
    return truncation.isHeld();
  }

  /** Bytes below the begin address that the device still keeps. */
  public long heldBytes() {
    return Math.max(0, marks.begin() - Math.max(truncation.releasedUntil(), Address.FIRST));
  }

  /** Moves the log's begin address. */
  void advanceBegin(long address) {
    remove(() -> truncation.advanceBegin(address));
  }

  /** Stops all removals. */
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
