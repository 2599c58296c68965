package io.fasterkv.flink.restore;

import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import java.lang.System.Logger.Level;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Divides a restored store's memory between index and log, according to the size of the state.
 * While the index has an entry for each record, more memory for the log is better: more records can
 * be read from memory. If it has not, records share entries, and a lookup reads other keys' records
 * from disk. Then half or three quarters of the log's memory is worth more in the index.
 */
final class MemorySplit {
  private static final int LEAST_PAGES = 4;

  private MemorySplit() {}

  /**
   * Returns the settings with the largest log that leaves enough memory to the index.
   *
   * @param settings page size, default log memory, and how often the log memory may be halved
   * @param sources the handles whose keys the store begins with; each had one index for their
   *     common log
   * @param own the subtask's key groups
   */
  static StoreConfig choose(
      StoreConfigBuilder settings, List<IncrementalSource> sources, KeyGroupRange own) {
    StoreConfig usual = settings.build();
    StoreConfig config = usual;
    long wanted =
        sources.stream().mapToLong(source -> wantedIndexBytes(source, own)).max().orElse(0);
    while (config.logHalvings() > 0 && config.indexBytes() < wanted) {
      long logBytes = config.logMemoryBytes() / 2;
      if (logBytes < LEAST_PAGES * (long) config.pageBytes()) {
        break;
      }
      config = settings.logMemoryBytes(logBytes).logHalvings(config.logHalvings() - 1).build();
    }
    if (config.logMemoryBytes() < usual.logMemoryBytes()) {
      config
          .logger()
          .log(
              Level.INFO,
              "the index of the restored state received memory from the log: indexBytes="
                  + config.indexBytes()
                  + ", wantedIndexBytes="
                  + wanted
                  + ", logMemoryBytes="
                  + config.logMemoryBytes()
                  + ", defaultLogMemoryBytes="
                  + usual.logMemoryBytes());
    }
    return config;
  }

  /** A full index does not tell how many entries it lacks; this assumes a quarter more. */
  private static long wantedIndexBytes(IncrementalSource source, KeyGroupRange own) {
    long used = source.log().usedIndexBytes();
    long wanted = source.log().hasSharedEntries() ? used + used / 4 : used;
    return wanted * source.groupsOf(own) / source.range().getNumberOfKeyGroups();
  }
}
