package io.fasterkv.bench.disk;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What is measured on the disk.
 *
 * @param dataBytes how much the store holds, about
 * @param valueBytes bytes of a value
 * @param depth reads under way at a time
 * @param duration of each slice
 * @param rounds how often store and fio take turns
 * @param directory on the disk
 */
public record DiskPlan(
    long dataBytes, int valueBytes, int depth, Duration duration, int rounds, Path directory) {
  /** Header, lengths and key of a record, about. */
  private static final int OVERHEAD_BYTES = 32;

  /** As much of values of another size. */
  DiskPlan withValueBytes(int bytes) {
    return new DiskPlan(dataBytes, bytes, depth, duration, rounds, directory);
  }

  /** How many records hold about that much. */
  public long keys() {
    return dataBytes / (valueBytes + OVERHEAD_BYTES);
  }
}
