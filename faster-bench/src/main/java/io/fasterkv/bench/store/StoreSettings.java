package io.fasterkv.bench.store;

import java.nio.file.Path;

/**
 * What a store is made for.
 *
 * @param keys how many keys it is loaded with, from 0 on
 * @param valueBytes bytes of a value; 8 for plain numbers
 * @param memoryBytes the budget of FASTER; 0 for one that holds everything
 * @param indexBytes what of it is for FASTER's index; 0 for a bucket to two keys
 * @param sessions how many sessions may be open at a time
 * @param directory where a store may keep files, its own
 */
public record StoreSettings(
    long keys, int valueBytes, long memoryBytes, long indexBytes, int sessions, Path directory) {
  private static final int BUCKET_BYTES = 64;
  private static final long LEAST_INDEX_BYTES = 64 << 10;

  /** Whether values are plain numbers. */
  public boolean isLongs() {
    return valueBytes == Long.BYTES;
  }

  /** A bucket of a cache line to two keys, as in the paper, unless it was set. */
  public long indexBytesOrDefault() {
    return indexBytes != 0 ? indexBytes : Math.max(LEAST_INDEX_BYTES, keys / 2 * BUCKET_BYTES);
  }
}
