package io.fasterkv.log;

import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Tracks values that are being written and whose anchors are not in their chains yet. Their first
 * chunks may already be on disk with nothing leading to them, so compaction must not go there. Used
 * twice for each large value that is written, and by compaction; never by other operations.
 */
final class UnpublishedValues {
  private final TreeMap<Long, Integer> starts = new TreeMap<>();

  /** Adds and returns the lowest possible address of a new value. */
  synchronized long add(LongSupplier tailAddress) {
    long start = tailAddress.getAsLong();
    starts.merge(start, 1, Integer::sum);
    return start;
  }

  synchronized void remove(long start) {
    starts.computeIfPresent(start, (address, count) -> count == 1 ? null : count - 1);
  }

  /** The lowest address that was added and not removed; {@link Long#MAX_VALUE} if there is none. */
  synchronized long lowest() {
    return starts.isEmpty() ? Long.MAX_VALUE : starts.firstKey();
  }
}
