package io.fasterkv.compaction;

import java.util.function.LongSupplier;

/**
 * Decides when a log is worth a pass over all of it that is on disk. A pass leaves what is live,
 * what was not on disk, and what was written meanwhile; the next is due when the log is half as
 * long again as what is known to be live, and has grown by half of what the pass has copied; by a
 * third if a checkpoint keeps its begin: then what is dropped stays on the device for some time,
 * and the rest has to be shorter. What counts as live in full may be all live: after a pass that
 * found little to drop where much could have been dead the log is to grow by as much as was copied,
 * and whenever more is said to be live than the last pass left, the next is due when the log has
 * doubled.
 *
 * <p>So passes copy about two bytes for each byte that was written, whether what was written is
 * live or not, and three in a log that is kept; a log that nobody writes to is left alone; and when
 * a pass begins the log is at most twice its live bytes, or fits memory.
 */
final class PassTrigger {
  private static final long LITTLE = 8;

  /** What a sample that errs by a tenth hardly ever says of a log of which a quarter is dead. */
  private static final long NEXT_TO_NOTHING = 16;

  private static final long MUCH = 4;

  private final LongSupplier memoryBytes;
  private long sizeAfterPass;

  /** How much the last pass has copied. */
  private long copiedBytes;

  private boolean isLiveKnown = true;

  /**
   * @param memoryBytes a log up to this size is left alone; it may change
   */
  PassTrigger(LongSupplier memoryBytes) {
    this.memoryBytes = memoryBytes;
  }

  boolean isDue(long logBytes, long liveBytes, boolean isHeld) {
    return logBytes > dueAt(liveBytes, isHeld);
  }

  /**
   * How long the log is when a pass is due.
   *
   * @param liveBytes how much is known to be live
   * @param isHeld whether storage below the log's begin stays for a checkpoint or a cut
   */
  synchronized long dueAt(long liveBytes, boolean isHeld) {
    return Math.max(
        memoryBytes.getAsLong(), isLiveKnown ? grown(liveBytes, isHeld) : asMuchAgain());
  }

  private long grown(long liveBytes, boolean isHeld) {
    long byCopies = sizeAfterPass + more(copiedBytes, isHeld);
    long byLive = liveBytes + more(liveBytes, isHeld);
    return Math.max(byCopies, Math.min(byLive, 2 * sizeAfterPass));
  }

  private long asMuchAgain() {
    return sizeAfterPass + copiedBytes;
  }

  /**
   * How long a log that is not held is when a pass that is under way goes on: what is live and
   * comes by sooner than it must is copied for nothing, if it is replaced before it would have to.
   * A log that has outgrown its memory with what is dead becomes short enough to lie in memory as a
   * whole.
   *
   * @param liveBytes how much is known to be live
   */
  long goesOnAt(long liveBytes) {
    return liveBytes + more(liveBytes, false);
  }

  /**
   * Notes a pass.
   *
   * @param unknownBytes how much of the log was not known to be live when it began
   * @param leftBytes how long the log is now, but for what was written meanwhile
   */
  synchronized void passed(PassOutcome pass, long unknownBytes, long leftBytes) {
    sizeAfterPass = leftBytes;
    copiedBytes = Math.min(pass.movedBytes(), leftBytes);
    long scanned = pass.scannedBytes();
    isLiveKnown = pass.droppedBytes() >= scanned / LITTLE || unknownBytes < scanned / MUCH;
  }

  /**
   * Whether a pass is worth it, as a sample says. That may be wrong by a tenth, so it counts only
   * if next to nothing is dead: then the next is due as after a pass that has copied all that is
   * live. It counts in any case for a log of which nothing was known yet, as one that was
   * recovered.
   *
   * @param diskBytes how much of the log is on disk, and was sampled
   * @param liveBytes how much of that is live
   */
  synchronized boolean isWorthIt(long logBytes, long diskBytes, long liveBytes, boolean isHeld) {
    long deadBytes = diskBytes - liveBytes;
    boolean isKnown = sizeAfterPass > 0;
    if (deadBytes > (isKnown ? diskBytes / NEXT_TO_NOTHING : more(liveBytes, isHeld))) {
      return true;
    }
    sizeAfterPass = Math.max(sizeAfterPass, logBytes - deadBytes);
    copiedBytes = Math.min(liveBytes, sizeAfterPass);
    isLiveKnown = true;
    return false;
  }

  private static long more(long bytes, boolean isHeld) {
    return bytes / (isHeld ? 3 : 2);
  }

  /** The head of the log was dropped, whatever it held. */
  synchronized void truncated(long logBytes) {
    sizeAfterPass = Math.min(sizeAfterPass, logBytes);
    copiedBytes = Math.min(copiedBytes, logBytes);
  }
}
