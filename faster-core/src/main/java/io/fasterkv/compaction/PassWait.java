package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;

/**
 * Whether a pass takes its next piece, or waits for what it would come to to die. It waits by what
 * is known to be live, and a number that is too high would have it wait for ever: so that is looked
 * at anew each time a part of the log's length has been written. For the thread that compacts.
 */
final class PassWait {
  /** A log grows by a quarter before a wrong number is found out. */
  private static final long LOOK_SHARE = 4;

  private final HybridLog log;
  private final HeldShare share;
  private final WriteQuiet quiet;
  private final Runnable lookAnew;
  private long lookAt;

  /**
   * @param lookAnew lowers what is known to be live if it is too high
   */
  PassWait(HybridLog log, HeldShare share, WriteQuiet quiet, Runnable lookAnew) {
    this.log = log;
    this.share = share;
    this.quiet = quiet;
    this.lookAnew = lookAnew;
  }

  /** A pass begins, and what is live has been looked at. */
  void begins() {
    lookAt = log.tailAddress() + log.lengthBytes() / LOOK_SHARE;
  }

  /** How much a pass takes at a time, of a log that it went over in {@code pieceBytes}. */
  long pieceBytes(long pieceBytes) {
    return log.holds().isHeld() ? share.pieceBytes() : pieceBytes;
  }

  /**
   * Whether a piece may be taken now. A pass over the head alone waits for checkpoints only.
   *
   * @param liveBytes how much is known to be live
   */
  boolean isOver(boolean isWhole, long pieceBytes, long liveBytes) {
    if (log.holds().isHeld()) {
      return share.allows(pieceBytes, liveBytes);
    }
    return !isWhole || share.allows(pieceBytes, liveBytes) || quiet.isQuiet();
  }

  /** The pass goes on to wait. */
  void waits() {
    if (!log.holds().isHeld() && log.tailAddress() >= lookAt) {
      begins();
      lookAnew.run();
    }
  }
}
