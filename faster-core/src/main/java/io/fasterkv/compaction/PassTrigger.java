package io.fasterkv.compaction;

/**
 * Decides when a log is worth a pass over all of it. A pass leaves what is live, and what was
 * written meanwhile; the next is due when the log has grown by half of that, or, if the last one
 * found little to drop, when it has doubled. So passes copy about two bytes for each byte that was
 * written, whether what was written is live or not; a log that nobody writes to is left alone; and
 * when a pass begins the log is at most twice its live bytes, or fits memory.
 */
final class PassTrigger {
  private static final long LITTLE = 8;

  private final long memoryBytes;
  private long sizeAfterPass;
  private boolean wasFruitful = true;

  /**
   * @param memoryBytes a log up to this size is left alone
   */
  PassTrigger(long memoryBytes) {
    this.memoryBytes = memoryBytes;
  }

  boolean isDue(long logBytes) {
    long grown = wasFruitful ? sizeAfterPass + sizeAfterPass / 2 : 2 * sizeAfterPass;
    return logBytes > Math.max(grown, memoryBytes);
  }

  /** Notes a pass: how much it looked at, how much of that it dropped, and the log's size now. */
  void passed(long scannedBytes, long droppedBytes, long logBytes) {
    sizeAfterPass = logBytes;
    wasFruitful = droppedBytes >= scannedBytes / LITTLE;
  }
}
