package io.fasterkv.operation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The updates of one session that were accepted and did not take effect, as far as its user has not
 * dealt with them. One is excluded from the session's points until the user has been told of it and
 * the session has accepted another operation after that. Recording one allocates nothing: there is
 * room for those that are pending.
 */
final class Failures {
  private static final long UNREPORTED = Long.MAX_VALUE;

  private long[] serials = new long[0];

  /** The number of the last operation that the session had accepted when its user was told. */
  private long[] reportedAt = new long[0];

  private int count;

  /**
   * @param inherited failures of the session's earlier lives, ascending
   * @param base the number of the last operation of these lives
   */
  Failures(List<Long> inherited, long base) {
    reserve(inherited.size());
    inherited.forEach(this::add);
    Arrays.fill(reportedAt, 0, count, base);
  }

  /** Makes room for so many more. */
  synchronized void reserve(int more) {
    if (count + more > serials.length) {
      serials = Arrays.copyOf(serials, 2 * count + more);
      reportedAt = Arrays.copyOf(reportedAt, serials.length);
    }
  }

  /** An update did not take effect, and its user does not know. */
  synchronized void add(long serial) {
    serials[count] = serial;
    reportedAt[count] = UNREPORTED;
    count++;
  }

  /** The user is told of a failure, after operation {@code last} and before the next. */
  synchronized void reported(long serial, long last) {
    for (int i = 0; i < count; i++) {
      if (serials[i] == serial) {
        reportedAt[i] = last;
      }
    }
  }

  /** Forgets what no point from {@code point} on excludes. */
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

  /** Which operations up to a point are excluded from it, ascending. */
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
