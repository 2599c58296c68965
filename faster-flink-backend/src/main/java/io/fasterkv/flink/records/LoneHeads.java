package io.fasterkv.flink.records;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.KeepRule;

/**
 * Finds the heads of lists in chunks, and of maps in buckets, of which no part is there any more,
 * since all have expired. For one thread at a time.
 *
 * <p>Such a head may go: whoever adds the first part again writes the head anew, behind it.
 */
public final class LoneHeads {
  private final SiblingKey part = new SiblingKey();

  /** Whether no bucket of the map with this head is there. */
  public boolean isMapWithoutBuckets(ByteSpan key, ByteSpan head, KeepRule.Lookup store) {
    return isWithoutParts(key, head.getInt(MapLayout.BUCKETS_AT), store);
  }

  /** Whether no chunk of the list with this head is there. */
  public boolean isListWithoutChunks(ByteSpan key, ByteSpan head, KeepRule.Lookup store) {
    return isWithoutParts(key, head.getInt(ListLayout.LAST_CHUNK_AT), store);
  }

  /**
   * The newest part of a list expires last, so that one look tells of nearly all that are alive. A
   * part of another value counts, too: it goes by itself before the head does, and if it stays the
   * head is an old one, of which the log may have many.
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
