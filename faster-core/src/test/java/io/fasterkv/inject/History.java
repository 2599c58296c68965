package io.fasterkv.inject;

import io.fasterkv.inject.Op.End;
import io.fasterkv.inject.Op.Kind;
import java.util.List;
import java.util.function.LongFunction;

/** Checks that a store contains exactly a prefix of each session's operations. */
final class History {
  /** If more operations on one counter may have taken effect, the check accepts any result. */
  private static final int MOST_OPEN = 14;

  private final List<List<Op>> sessions;

  /**
   * @param sessions all operations of each session in order, by session number
   */
  History(List<List<Op>> sessions) {
    this.sessions = sessions;
  }

  /**
   * Throws unless the store contains the sessions' operations up to these points.
   *
   * @param points by session
   * @param store the store's value for a key, {@link Op#ABSENT} if it has none
   */
  void check(long[] points, LongFunction<Long> store) {
    for (int session = 0; session < sessions.size(); session++) {
      Values values = new Values();
      for (Op op : sessions.get(session)) {
        if (op.serial <= points[session] && op.key < SessionWork.COUNTER) {
          values.apply(op);
        }
      }
      for (int i = 0; i < SessionWork.KEYS; i++) {
        long key = SessionWork.key(session, i);
        long found = store.apply(key);
        if (!values.allows(key, found)) {
          throw new AssertionError(
              "key="
                  + key
                  + ", found="
                  + found
                  + ", allowed="
                  + values.of(key)
                  + ", point="
                  + points[session]
                  + ", "
                  + trace(session, key));
        }
      }
    }
    for (int i = 0; i < SessionWork.COUNTERS; i++) {
      checkCounter(points, SessionWork.COUNTER + i, store);
    }
  }

  private String trace(int session, long key) {
    return sessions.get(session).stream()
        .filter(op -> op.key == key && op.kind != Kind.READ)
        .toList()
        .toString();
  }

  private void checkCounter(long[] points, long key, LongFunction<Long> store) {
    long sum = 0;
    long[] open = new long[MOST_OPEN];
    int count = 0;
    for (int session = 0; session < sessions.size(); session++) {
      for (Op op : sessions.get(session)) {
        if (op.key != key || op.serial > points[session]) {
          continue;
        }
        if (op.end == End.DONE) {
          sum += op.stamp;
        } else if (count < MOST_OPEN) {
          open[count++] = op.stamp;
        } else {
          return;
        }
      }
    }
    long found = store.apply(key);
    long left = (found == Op.ABSENT ? 0 : found) - sum;
    if (!isSum(left, open, count)) {
      throw new AssertionError(
          "counter="
              + (key - SessionWork.COUNTER)
              + ", found="
              + found
              + ", expected="
              + sum
              + ", and "
              + count
              + " that failed");
    }
  }

  private static boolean isSum(long left, long[] open, int count) {
    return count == 0
        ? left == 0
        : isSum(left, open, count - 1) || isSum(left - open[count - 1], open, count - 1);
  }
}
