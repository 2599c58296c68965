package io.fasterkv.api.statistics;

/**
 * The state of the hash index at one moment. The numbers are taken from counters, without scanning
 * the index; while sessions run, they may be slightly out of date.
 *
 * @param bytes memory of the index, in bytes
 * @param mainBuckets number of buckets that hashes select from; each has seven entries
 * @param overflowBuckets number of overflow buckets allocated
 * @param overflowBucketsUsed number of overflow buckets in use
 * @param entries number of entries in use: one for each bucket and tag that has records. There may
 *     be more after deletes, and after a growth of the index while records were on disk
 * @param saturatedChains number of main buckets that found no free overflow bucket; tags in them
 *     share entries, until the index has grown and their keys were written again
 * @param walks number of walks along chains of records since the store was opened. Operations on
 *     {@code long} records that find their record in memory, first in its chain, are not counted
 * @param recordsInMemory number of records that those walks examined in memory
 * @param recordsFromDisk number of records that those walks read from disk
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

  /**
   * {@return the average number of records that a walk examined, in memory and on disk; 0 without
   * walks}
   */
  public double recordsPerWalk() {
    return walks == 0 ? 0 : (double) (recordsInMemory + recordsFromDisk) / walks;
  }

  /**
   * {@return the entries in use divided by the entries of the main buckets; above about 0.7 the
   * index should grow}
   */
  public double load() {
    return entries / (7.0 * mainBuckets);
  }
}
