package io.fasterkv.api.statistics;

/**
 * Shows where a store's off-heap memory is, in bytes. The parts add up to {@link #usedBytes}. They
 * are read one after the other, so memory that is allocated meanwhile may be missing from one of
 * them.
 *
 * @param budgetBytes the limit: {@code memoryBytes} of the configuration, less what was released to
 *     other stores
 * @param indexBytes hash buckets, including the tables that a resize is filling
 * @param logBytes pages of the log
 * @param scratchLentBytes buffers in use by sessions, scans and compaction
 * @param scratchFreeBytes free buffers
 * @param otherBytes everything else, for example memory that a device shares with the kernel
 */
public record MemoryUse(
    long budgetBytes,
    long indexBytes,
    long logBytes,
    long scratchLentBytes,
    long scratchFreeBytes,
    long otherBytes) {

  /** {@return the sum of the parts} */
  public long usedBytes() {
    return indexBytes + logBytes + scratchLentBytes + scratchFreeBytes + otherBytes;
  }
}
