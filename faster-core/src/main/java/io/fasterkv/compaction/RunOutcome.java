package io.fasterkv.compaction;

import io.fasterkv.api.statistics.CompactionStats;

/**
 * The result of a compaction run.
 *
 * @param scannedBytes bytes of the log that were read
 * @param movedBytes bytes of these that were live and copied
 * @param expiredBytes expired bytes among those that were not copied
 * @param leftBytes length of the log now, without what others have written meanwhile
 */
record RunOutcome(long scannedBytes, long movedBytes, long expiredBytes, long leftBytes) {

  /**
   * @param before totals before the run
   * @param after totals after it
   * @param grownBytes how far the log's tail has moved, by the run and by others
   * @param logBytes length of the log now
   */
  static RunOutcome of(
      CompactionStats before, CompactionStats after, long grownBytes, long logBytes) {
    long moved = after.movedBytes() - before.movedBytes();
    long written = Math.max(0, grownBytes - moved);
    return new RunOutcome(
        after.scannedBytes() - before.scannedBytes(),
        moved,
        after.expiredBytes() - before.expiredBytes(),
        Math.max(moved, logBytes - written));
  }

  /** Bytes dropped. */
  long droppedBytes() {
    return scannedBytes - movedBytes;
  }

  /**
   * Lower bound of the live bytes that are left. A run reads what is on disk; the rest, up to the
   * same length, is assumed to have the same live part.
   */
  long liveBytes() {
    double share = scannedBytes == 0 ? 0 : Math.min(1, (double) movedBytes / scannedBytes);
    return movedBytes + (long) (share * Math.min(scannedBytes, leftBytes - movedBytes));
  }
}
