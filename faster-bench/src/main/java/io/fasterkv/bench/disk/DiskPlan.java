package io.fasterkv.bench.disk;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The plan of a disk measurement.
 *
 * @param dataBytes approximate size of the store's data
 * @param valueBytes bytes of a value
 * @param depth number of reads in progress
 * @param duration of each slice
 * @param rounds how often store and fio take turns
 * @param directory on the disk
 */
public record DiskPlan(
    long dataBytes, int valueBytes, int depth, Duration duration, int rounds, Path directory) {
  /** Approximate size of a record's header, lengths and key. */
  private static final int OVERHEAD_BYTES = 32;

  /** The same amount of data with values of another size. */
  DiskPlan withValueBytes(int bytes) {
    return new DiskPlan(dataBytes, bytes, depth, duration, rounds, directory);
  }

  /** Number of records with about that much data. */
  public long keys() {
    return dataBytes / (valueBytes + OVERHEAD_BYTES);
  }
}
