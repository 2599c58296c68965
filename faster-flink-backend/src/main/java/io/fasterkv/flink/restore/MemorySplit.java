package io.fasterkv.flink.restore;

import io.fasterkv.api.StoreConfig;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Splits a store's memory between index and log by what the state has grown to when it is restored.
 * As long as the index has an entry for each record, memory is best given to the log, which then
 * has more of the records that are asked for. When it has not, records share entries, and a look-up
 * reads those of others from disk: then half of the log's memory, or three quarters of it, is worth
 * more as index.
 */
final class MemorySplit {
  private static final Logger LOG = LoggerFactory.getLogger(MemorySplit.class);

  private static final int LEAST_PAGES = 4;

  private MemorySplit() {}

  /**
   * The settings with the log as large as it can be beside an index that has room.
   *
   * @param settings with page size, with memory of the log by default, and with how often that may
   *     be halved
   * @param sources whose keys it begins with; each had an index for all that they had in common
   * @param own which of their key groups the store is there for
   */
  static StoreConfig choose(
      StoreConfig.Builder settings, List<IncrementalSource> sources, KeyGroupRange own) {
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
      LOG.info(
          "the index gets memory of the log's: indexBytes={}, wanted={}, logMemoryBytes={}, by"
              + " default={}",
          config.indexBytes(),
          wanted,
          config.logMemoryBytes(),
          usual.logMemoryBytes());
    }
    return config;
  }

  /** How many entries are missing in an index that is full is not known: some at least. */
  private static long wantedIndexBytes(IncrementalSource source, KeyGroupRange own) {
    long used = source.log().usedIndexBytes();
    long wanted = source.log().hasSharedEntries() ? used + used / 4 : used;
    return wanted * source.groupsOf(own) / source.range().getNumberOfKeyGroups();
  }
}
