package io.fasterkv.spi;

/**
 * How a store uses the memory of its log. The numbers of operations are sums since the store was
 * opened; while sessions run, they may be slightly out of date.
 *
 * @param hits operations that found their key in memory
 * @param diskReads operations that found their key on disk
 * @param logBytes the memory that the log may use, in bytes
 * @param usedBytes the part of the log that is in memory, in bytes
 * @param diskBytes the part of the log that is only on disk, in bytes; it also has records that
 *     were replaced
 */
public record MemoryUses(
    long hits, long diskReads, long logBytes, long usedBytes, long diskBytes) {}
