package io.fasterkv.api;

/**
 * Where a store's memory is, in bytes off-heap. The parts add up to {@link #usedBytes}; they are
 * looked at one after the other, so what is allocated meanwhile may be missing in one of them.
 *
 * @param budgetBytes the ceiling, {@code memoryBytes} of the configuration
 * @param indexBytes hash buckets, tables that a resize is filling included
 * @param logBytes pages of the log
 * @param scratchLentBytes buffers that sessions, scans, and compaction have
 * @param scratchFreeBytes buffers that nobody has
 * @param otherBytes anything else, for example what a device shares with the system
 */
public record MemoryUse(
    long budgetBytes,
    long indexBytes,
    long logBytes,
    long scratchLentBytes,
    long scratchFreeBytes,
    long otherBytes) {

  /** The sum of the parts. */
  public long usedBytes() {
    return indexBytes + logBytes + scratchLentBytes + scratchFreeBytes + otherBytes;
  }
}
