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
    int last = head.getInt(MapLayout.BUCKETS_AT);
    return isWithoutParts(key, PartLayout.ofHead(head), last, store);
  }

  /** Whether no chunk of the list with this head is there. */
  public boolean isListWithoutChunks(ByteSpan key, ByteSpan head, KeepRule.Lookup store) {
    int last = head.getInt(ListLayout.LAST_CHUNK_AT);
    return isWithoutParts(key, PartLayout.ofHead(head), last, store);
  }

  /**
   * The newest part of a list expires last, so that one look tells of nearly all that are alive.
   */
  private boolean isWithoutParts(ByteSpan key, long identity, int last, KeepRule.Lookup store) {
    for (int sub = last; sub > 0; sub--) {
      ByteSpan found = store.find(part.of(key, sub));
      if (found != null && PartLayout.ofPart(found) == identity) {
        return false;
      }
    }
    return true;
  }
}
