package io.fasterkv.compaction;

import java.util.function.LongSupplier;

/**
 * Decides when a run over all of the log on disk is worthwhile. A run leaves the live records, what
 * was not on disk, and what was written meanwhile. The next run is due when the log is longer than
 * its known live bytes by half, and has grown by half of what the last run copied. If a checkpoint
 * keeps the log's begin address, it is a third instead of a half: what is dropped then stays on the
 * device for some time, so the rest must be shorter.
 *
 * <p>The known live bytes may be too low, and all of the log may be live. After a run that found
 * little to drop where much could have been dead, the log must grow by as much as was copied. If
 * more is known to be live than the last run left, the next run is due when the log has doubled.
 *
 * <p>So runs copy about two bytes for each byte written, whether that is live or not, and three in
 * a log that is kept. When a run begins, the log is at most twice the bytes that are known to be
 * live, or fits memory. A log without writes is sampled once more: {@link BackgroundCompaction}.
 */
final class RunTrigger {
  private static final long LITTLE = 8;

  /**
   * A sample with an error of a tenth hardly ever finds so little dead if a quarter of the log is
   * dead.
   */
  private static final long NEXT_TO_NOTHING = 16;

  private static final long MUCH = 4;

  private final LongSupplier memoryBytes;
  private long sizeAfterRun;

  /** Bytes that the last run copied. */
  private long copiedBytes;

  private boolean isLiveKnown = true;

  /**
   * @param memoryBytes a log up to this length is not compacted; may change
   */
  RunTrigger(LongSupplier memoryBytes) {
    this.memoryBytes = memoryBytes;
  }

  boolean isDue(long logBytes, long liveBytes, boolean isHeld) {
    return logBytes > dueAt(liveBytes, isHeld);
  }

  /**
   * Length of the log above which a run is due.
   *
   * @param liveBytes bytes that are known to be live
   * @param isHeld whether a checkpoint or a cut keeps storage below the log's begin address
   */
  synchronized long dueAt(long liveBytes, boolean isHeld) {
    return Math.max(
        memoryBytes.getAsLong(), isLiveKnown ? grown(liveBytes, isHeld) : grownByCopies());
  }

  private long grown(long liveBytes, boolean isHeld) {
    long byCopies = sizeAfterRun + more(copiedBytes, isHeld);
    long byLive = liveBytes + more(liveBytes, isHeld);
    return Math.max(byCopies, Math.min(byLive, 2 * sizeAfterRun));
  }

  private long grownByCopies() {
    return sizeAfterRun + copiedBytes;
  }

  /**
   * Length above which a run continues in a log that is not held. Compacting earlier copies live
   * records that may be replaced before their copy was necessary. A log that has outgrown its
   * memory with dead records becomes short enough to fit memory again.
   *
   * @param liveBytes bytes that are known to be live
   */
  long continuesAbove(long liveBytes) {
    return liveBytes + more(liveBytes, false);
  }

  /**
   * Notes a run.
   *
   * @param unknownBytes bytes of the log that were not known to be live when it began
   * @param leftBytes length of the log now, without what was written meanwhile
   */
  synchronized void runEnded(RunOutcome outcome, long unknownBytes, long leftBytes) {
    sizeAfterRun = leftBytes;
    copiedBytes = Math.min(outcome.movedBytes(), leftBytes);
    long scanned = outcome.scannedBytes();
    isLiveKnown = outcome.droppedBytes() >= scanned / LITTLE || unknownBytes < scanned / MUCH;
  }

  /**
   * Whether a run is worthwhile according to a sample. The sample may have an error of a tenth, so
   * it prevents a run only if next to nothing is dead; then the next run is due as if a run had
   * copied all live bytes. It always counts if nothing is known about the log yet, for example
   * after a recovery.
   *
   * @param diskBytes length of the log on disk, which was sampled
   * @param liveBytes live bytes of that
   */
  synchronized boolean isWorthIt(long logBytes, long diskBytes, long liveBytes, boolean isHeld) {
    long deadBytes = diskBytes - liveBytes;
    boolean isKnown = sizeAfterRun > 0;
    if (deadBytes > (isKnown ? diskBytes / NEXT_TO_NOTHING : more(liveBytes, isHeld))) {
      return true;
    }
    sizeAfterRun = Math.max(sizeAfterRun, logBytes - deadBytes);
    copiedBytes = Math.min(liveBytes, sizeAfterRun);
    isLiveKnown = true;
    return false;
  }

  private static long more(long bytes, boolean isHeld) {
    return bytes / (isHeld ? 3 : 2);
  }

  /** Called when the head of the log was dropped, live or not. */
  synchronized void truncated(long logBytes) {
    sizeAfterRun = Math.min(sizeAfterRun, logBytes);
    copiedBytes = Math.min(copiedBytes, logBytes);
  }
}
