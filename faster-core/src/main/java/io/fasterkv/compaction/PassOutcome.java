package io.fasterkv.compaction;

import io.fasterkv.api.CompactionStats;

/**
 * What a pass has come to.
 *
 * @param scannedBytes how much of the log it looked at
 * @param movedBytes how much of that it copied, since it was live
 * @param expiredBytes how much of what it did not copy had expired
 * @param leftBytes how long the log is now, but for what others have written meanwhile
 */
record PassOutcome(long scannedBytes, long movedBytes, long expiredBytes, long leftBytes) {

  /**
   * @param before what was done before the pass
   * @param after and with it
   * @param grownBytes how far the log's tail has moved, by the pass and by others
   * @param logBytes how long the log is now
   */
  static PassOutcome of(
      CompactionStats before, CompactionStats after, long grownBytes, long logBytes) {
    long moved = after.movedBytes() - before.movedBytes();
    long written = Math.max(0, grownBytes - moved);
    return new PassOutcome(
        after.scannedBytes() - before.scannedBytes(),
        moved,
        after.expiredBytes() - before.expiredBytes(),
        Math.max(moved, logBytes - written));
  }

  /** How much it dropped. */
  long droppedBytes() {
    return scannedBytes - movedBytes;
  }

  /**
   * How much of what is left is live at least. A pass looks at what is on disk; what has not come
   * there is taken to be like that, as far as it is not more than that.
   */
  long liveBytes() {
    double share = scannedBytes == 0 ? 0 : Math.min(1, (double) movedBytes / scannedBytes);
    return movedBytes + (long) (share * Math.min(scannedBytes, leftBytes - movedBytes));
  }
}
