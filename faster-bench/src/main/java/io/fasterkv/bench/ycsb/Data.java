package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.store.StoreSettings;
import java.nio.file.Path;

/**
 * The data of the stores.
 *
 * @param keys number of keys
 * @param valueBytes bytes of a value
 * @param memoryBytes FASTER's budget, or 0 for one that holds everything
 * @param indexBytes FASTER's index, or 0 for one bucket for two keys
 */
public record Data(long keys, int valueBytes, long memoryBytes, long indexBytes) {

  StoreSettings settings(int sessions, Path directory) {
    return new StoreSettings(keys, valueBytes, memoryBytes, indexBytes, sessions, directory);
  }

  /** Whether a store may have most of the keys on disk. */
  boolean mayBeOnDisk(StoreKind kind) {
    return kind == StoreKind.FASTER_APPEND || kind == StoreKind.FASTER && memoryBytes != 0;
  }
}
