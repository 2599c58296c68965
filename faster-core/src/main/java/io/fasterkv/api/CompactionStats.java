package io.fasterkv.api;

/**
 * What compaction has done since the store was opened, by hand and in the background.
 *
 * @param passes times that the begin of the log was moved
 * @param scannedBytes bytes of log that were looked at, and then let go of
 * @param movedBytes bytes of live records that were copied to the tail
 * @param movedRecords how many records that were
 * @param expiredBytes bytes of live records that were left behind, since the {@link KeepRule} did
 *     not ask for them
 */
public record CompactionStats(
    long passes, long scannedBytes, long movedBytes, long movedRecords, long expiredBytes) {

  /** Bytes that nobody needs any more: the log has become smaller by as much. */
  public long droppedBytes() {
    return scannedBytes - movedBytes;
  }
}
