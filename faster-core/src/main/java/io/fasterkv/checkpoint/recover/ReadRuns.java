package io.fasterkv.checkpoint.recover;

import java.util.Arrays;

/**
 * Divides parts of a log, which may be read in any order, between threads. Each thread reads a run
 * of neighbors, so that it stays on one stream and rarely seeks. A thread whose run has ended takes
 * the second half of the longest run. Safe for all threads; each call takes a lock.
 */
final class ReadRuns {
  /** What each thread reads next, and where its run ends. */
  private final int[] next;

  private final int[] ends;

  /**
   * @param parts number of parts, which are numbered from 0
   * @param threads number of threads, which are numbered from 0
   */
  ReadRuns(int parts, int threads) {
    next = new int[threads];
    ends = new int[threads];
    Arrays.setAll(next, thread -> bound(parts, thread, threads));
    Arrays.setAll(ends, thread -> bound(parts, thread + 1, threads));
  }

  private static int bound(int parts, int thread, int threads) {
    return (int) ((long) parts * thread / threads);
  }

  /**
   * Takes the next part for a thread. Each part is taken once; there must be one left for each
   * call.
   */
  synchronized int take(int thread) {
    if (left(thread) == 0) {
      takeHalfOfLongest(thread);
    }
    return next[thread]++;
  }

  private void takeHalfOfLongest(int thread) {
    int longest = 0;
    for (int other = 1; other < next.length; other++) {
      longest = left(other) > left(longest) ? other : longest;
    }
    if (left(longest) == 0) {
      throw new IllegalStateException("all parts are taken: thread=" + thread);
    }
    ends[thread] = ends[longest];
    next[thread] = ends[longest] - (left(longest) + 1) / 2;
    ends[longest] = next[thread];
  }

  private int left(int thread) {
    return ends[thread] - next[thread];
  }
}
