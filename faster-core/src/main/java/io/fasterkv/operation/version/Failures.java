package io.fasterkv.operation.version;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The accepted updates of one session that did not take effect and are not settled. A session's
 * points exclude an update until its failure was reported and the session has then accepted another
 * operation. Recording a failure allocates nothing, because pending updates have reserved room.
 */
public final class Failures {
  private static final long UNREPORTED = Long.MAX_VALUE;

  private long[] serials = new long[0];

  /**
   * The number of the last operation that the session had accepted when the failure was reported.
   */
  private long[] reportedAt = new long[0];

  private int count;

  /**
   * @param inherited failures of the session's previous lives, ascending
   * @param base the number of the last operation of these lives
   */
  Failures(List<Long> inherited, long base) {
    reserve(inherited.size());
    inherited.forEach(this::add);
    Arrays.fill(reportedAt, 0, count, base);
  }

  /** Reserves room for more failures. */
  public synchronized void reserve(int more) {
    if (count + more > serials.length) {
      serials = Arrays.copyOf(serials, 2 * count + more);
      reportedAt = Arrays.copyOf(reportedAt, serials.length);
    }
  }

  /** Adds an update that did not take effect, unreported. */
  public synchronized void add(long serial) {
    serials[count] = serial;
    reportedAt[count] = UNREPORTED;
    count++;
  }

  /** Marks a failure as reported after operation {@code last} and before the next one. */
  synchronized void reported(long serial, long last) {
    for (int i = 0; i < count; i++) {
      if (serials[i] == serial) {
        reportedAt[i] = last;
      }
    }
  }

  /** Forgets the updates that no point from {@code point} on excludes. */
  synchronized void forget(long point) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (reportedAt[i] >= point) {
        serials[kept] = serials[i];
        reportedAt[kept] = reportedAt[i];
        kept++;
      }
    }
    count = kept;
  }

  /** The operations that a point excludes, ascending. */
  synchronized List<Long> excluded(long point) {
    List<Long> excluded = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (serials[i] <= point && reportedAt[i] >= point) {
        excluded.add(serials[i]);
      }
    }
    excluded.sort(null);
    return excluded;
  }
}
