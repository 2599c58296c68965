package io.fasterkv.log;

import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Where values are being written whose anchors are not in their chains yet. Their first chunks may
 * be on disk by now, and nothing leads to them: whoever looks for what is live must not go there.
 * Used twice for each large value that is written, and by compaction; never by other operations.
 */
final class UnpublishedValues {
  private final TreeMap<Long, Integer> starts = new TreeMap<>();

  /** Takes the address at which a value begins at the earliest, and returns it. */
  synchronized long add(LongSupplier tailAddress) {
    long start = tailAddress.getAsLong();
    starts.merge(start, 1, Integer::sum);
    return start;
  }

  synchronized void remove(long start) {
    starts.computeIfPresent(start, (address, count) -> count == 1 ? null : count - 1);
  }

  /** The lowest address that was taken and not removed; the largest number if there is none. */
  synchronized long lowest() {
    return starts.isEmpty() ? Long.MAX_VALUE : starts.firstKey();
  }
}
