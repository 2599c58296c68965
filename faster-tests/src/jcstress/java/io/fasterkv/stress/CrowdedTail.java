package io.fasterkv.stress;

import java.util.Arrays;
import java.util.Comparator;

/**
 * Allocations of two threads around the end of a page, and the detector of bytes that were
 * allocated twice, across pages, or lost.
 */
public abstract class CrowdedTail {
  public static final String SOUND = "sound";

  protected static final int ACTORS = 2;
  protected static final long PAGE_BYTES = SmallStore.PAGE_BYTES;

  private static final int EACH = 2;

  private record Range(long from, long until) {}

  private final Range[] ranges = new Range[ACTORS * EACH];

  /** Forgets all allocations. About one of the records that follow fits in the page. */
  protected final void forget() {
    Arrays.fill(ranges, null);
  }

  /** Records an actor's {@code number}th allocation. */
  protected final void allocated(int actor, int number, long from, long until) {
    ranges[actor * EACH + number] = new Range(from, until);
  }

  /** What is wrong with the allocations. */
  public final String defect() {
    Range[] inOrder =
        Arrays.stream(ranges)
            .filter(range -> range != null)
            .sorted(Comparator.comparingLong(Range::from))
            .toArray(Range[]::new);
    long end = 0;
    for (Range range : inOrder) {
      if (range.from < end) {
        return "handed out twice";
      }
      if (range.from / PAGE_BYTES != (range.until - 1) / PAGE_BYTES) {
        return "across pages";
      }
      end = range.until;
    }
    return recordsFound() == inOrder.length ? SOUND : "lost";
  }

  /** Number of records that a scan of the log finds. */
  protected abstract int recordsFound();
}
