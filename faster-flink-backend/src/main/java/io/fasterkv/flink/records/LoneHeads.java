package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.flink.records.base.SiblingKey;
import io.fasterkv.flink.records.list.ListLayout;
import io.fasterkv.flink.records.map.MapLayout;

/**
 * Finds the heads of chunked lists and bucketed maps whose parts have all expired and were dropped.
 * For one thread at a time.
 *
 * <p>Such a head may be dropped: an operation that adds a first part again writes the head after
 * it.
 */
public final class LoneHeads {
  private final SiblingKey part = new SiblingKey();

  /** Whether the store has no bucket of the map with this head. */
  public boolean isMapWithoutBuckets(ByteSpan key, ByteSpan head, KeepRule.Lookup store) {
    return isWithoutParts(key, head.getInt(MapLayout.BUCKETS_AT), store);
  }

  /** Whether the store has no chunk of the list with this head. */
  public boolean isListWithoutChunks(ByteSpan key, ByteSpan head, KeepRule.Lookup store) {
    return isWithoutParts(key, head.getInt(ListLayout.LAST_CHUNK_AT), store);
  }

  /**
   * Starts at the newest part of a list, which expires last, so one lookup is enough for nearly all
   * live lists. A part of another value counts too: it is dropped before the head is, and if it
   * stays, the head is an old one, of which the log may have many.
   */
  private boolean isWithoutParts(ByteSpan key, int last, KeepRule.Lookup store) {
    for (int sub = last; sub > 0; sub--) {
      if (store.find(part.of(key, sub)) != null) {
        return false;
      }
    }
    return true;
  }
}
