package io.fasterkv.spi;

/**
 * How a store uses its memory. The numbers of operations are sums since the store was opened; while
 * sessions run, they may be slightly out of date.
 *
 * @param hits operations that found their key in memory
 * @param diskReads operations that found their key on disk
 * @param logBytes the memory that the log may use, in bytes
 * @param usedBytes the part of the log that is in memory, in bytes
 * @param diskBytes the part of the log that is only on disk, in bytes; it also has records that
 *     were replaced
 * @param spareIndexBytes memory that the index has not taken and does not need for its next growth,
 *     in bytes
 * @param logAcceptableBytes memory that the log could take, whatever the store's budget, in bytes
 * @param logReleasableBytes memory that the log could release, in bytes
 * @param indexLackBytes memory that the index lacks if it is nearly full and fills up, or if it is
 *     full and in use, in bytes: to double, or for more overflow buckets if the store can never
 *     have that much; 0 if it does not grow. Keys that it has no room for share entries, and a
 *     lookup then reads records of other keys
 * @param acceptedBytes sum of what the store has accepted from others, in bytes
 * @param releasedBytes sum of what the store has released to others, in bytes
 */
public record MemoryUses(
    long hits,
    long diskReads,
    long logBytes,
    long usedBytes,
    long diskBytes,
    long spareIndexBytes,
    long logAcceptableBytes,
    long logReleasableBytes,
    long indexLackBytes,
    long acceptedBytes,
    long releasedBytes) {}
