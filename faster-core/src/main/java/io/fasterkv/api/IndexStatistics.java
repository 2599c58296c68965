package io.fasterkv.api;

/**
 * The hash index at a moment, told from counters, without looking at the index. While sessions run,
 * the numbers may lag behind by a little.
 *
 * @param bytes memory of the index
 * @param mainBuckets buckets that hashes choose from, of seven entries each
 * @param overflowBuckets buckets for chains of entries that outgrow theirs
 * @param overflowBucketsUsed how many of those are in use
 * @param entries entries in use: one for each bucket and tag that has records, or more when records
 *     were deleted, or were on disk when the index grew
 * @param saturatedChains main buckets that found no overflow bucket, whose tags share entries
 * @param walks walks along chains of records since the store was opened; operations on {@code long}
 *     records that found theirs first in its chain, in memory, are not counted
 * @param recordsInMemory records that those walks looked at in memory
 * @param recordsFromDisk records that were read from disk for them
 */
public record IndexStatistics(
    long bytes,
    long mainBuckets,
    long overflowBuckets,
    long overflowBucketsUsed,
    long entries,
    long saturatedChains,
    long walks,
    long recordsInMemory,
    long recordsFromDisk) {

  /** Records that a walk looked at on average, in memory and on disk; 0 when there was none. */
  public double recordsPerWalk() {
    return walks == 0 ? 0 : (double) (recordsInMemory + recordsFromDisk) / walks;
  }

  /** Entries for each one that the main buckets have: at more than about 0.7, growth is due. */
  public double load() {
    return entries / (7.0 * mainBuckets);
  }
}
