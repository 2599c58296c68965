package io.fasterkv.bench.store;

import java.nio.file.Path;

/**
 * The settings of a store.
 *
 * @param keys number of keys it is loaded with, from 0 on
 * @param valueBytes bytes of a value; 8 for plain numbers
 * @param memoryBytes the budget of FASTER; 0 for one that holds everything
 * @param indexBytes the part of it for FASTER's index; 0 for one bucket for two keys
 * @param sessions maximum number of open sessions
 * @param directory a directory of its own where a store may keep files
 */
public record StoreSettings(
    long keys, int valueBytes, long memoryBytes, long indexBytes, int sessions, Path directory) {
  private static final int BUCKET_BYTES = 64;
  private static final long LEAST_INDEX_BYTES = 64 << 10;

  /** Whether values are plain numbers. */
  public boolean isLongs() {
    return valueBytes == Long.BYTES;
  }

  /** One cache-line bucket for two keys, as in the paper, unless it was set. */
  public long indexBytesOrDefault() {
    return indexBytes != 0 ? indexBytes : Math.max(LEAST_INDEX_BYTES, keys / 2 * BUCKET_BYTES);
  }
}
