package io.fasterkv.compaction;

import io.fasterkv.log.HybridLog;

/**
 * Decides whether a run takes its next piece, or waits until more of that piece is dead. It decides
 * by the known live bytes; if that number is too high, it would wait for ever, so the number is
 * checked each time the log has grown by a part of its length. For the compacting thread.
 */
final class CompactionScheduler {
  /** A log grows by a quarter before a wrong number is detected. */
  private static final long LOOK_SHARE = 4;

  private final HybridLog log;
  private final PinnedLogLimit limit;
  private final WriteQuiet quiet;
  private final Runnable lowerEstimate;
  private long lookAt;

  /**
   * @param lowerEstimate lowers the known live bytes if they are too high
   */
  CompactionScheduler(
      HybridLog log, PinnedLogLimit limit, WriteQuiet quiet, Runnable lowerEstimate) {
    this.log = log;
    this.limit = limit;
    this.quiet = quiet;
    this.lowerEstimate = lowerEstimate;
  }

  /** Called when a run begins, after the live bytes were checked. */
  void begins() {
    lookAt = log.tailAddress() + log.lengthBytes() / LOOK_SHARE;
  }

  /** Length of the next piece, for a run with pieces of {@code pieceBytes}. */
  long pieceBytes(long pieceBytes) {
    return log.pins().isHeld() ? limit.pieceBytes() : pieceBytes;
  }

  /**
   * Whether a piece may be taken now. A run over the head only waits just for checkpoints.
   *
   * @param liveBytes bytes that are known to be live
   */
  boolean isOver(boolean isWhole, long pieceBytes, long liveBytes) {
    if (log.pins().isHeld()) {
      return limit.allows(pieceBytes, liveBytes);
    }
    return !isWhole || limit.allows(pieceBytes, liveBytes) || quiet.isQuiet();
  }

  /** Called each time the run has to wait. */
  void waits() {
    if (!log.pins().isHeld() && log.tailAddress() >= lookAt) {
      begins();
      lowerEstimate.run();
    }
  }
}
