package io.fasterkv.api.statistics;

/**
 * Counts what compaction has done since the store was opened, on request and in the background.
 *
 * @param passes number of compaction runs that moved the begin address
 * @param scannedBytes bytes of log that were scanned and then freed
 * @param movedBytes bytes of live records that were copied to the tail
 * @param movedRecords number of live records that were copied to the tail
 * @param expiredBytes bytes of live records that were dropped because the {@link
 *     io.fasterkv.api.config.KeepRule} did not keep them
 */
public record CompactionStats(
    long passes, long scannedBytes, long movedBytes, long movedRecords, long expiredBytes) {

  /**
   * {@return how many bytes the log has shrunk: the scanned bytes that were not copied to the tail}
   */
  public long droppedBytes() {
    return scannedBytes - movedBytes;
  }
}
