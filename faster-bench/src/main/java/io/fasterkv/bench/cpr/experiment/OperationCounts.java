package io.fasterkv.bench.cpr.experiment;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;

/** Counts the operations of a run's threads, in total and for each interval. */
public final class OperationCounts {
  /** Two cache lines for each thread. */
  private static final int STRIDE = 16;

  private static final int FIRST_INTERVALS = 1024;

  private final RunClock clock;
  private final AtomicLongArray totals;
  private final long[][] perInterval;

  public OperationCounts(RunClock clock, int threads) {
    this.clock = clock;
    totals = new AtomicLongArray((threads + 1) * STRIDE);
    perInterval = new long[threads][FIRST_INTERVALS];
  }

  /** Adds a thread's operations since its last call; called only by that thread. */
  public void add(int thread, int operations) {
    int slot = (thread + 1) * STRIDE;
    totals.lazySet(slot, totals.getPlain(slot) + operations);
    int interval = clock.interval(System.nanoTime());
    if (interval >= perInterval[thread].length) {
      perInterval[thread] = Arrays.copyOf(perInterval[thread], 2 * interval);
    }
    perInterval[thread][interval] += operations;
  }

  /** All threads' operations so far. */
  public long total() {
    long sum = 0;
    for (int thread = 0; thread < perInterval.length; thread++) {
      sum += totals.getAcquire((thread + 1) * STRIDE);
    }
    return sum;
  }

  /**
   * Millions of operations a second in each of the first intervals; the threads must have ended.
   */
  public List<Double> mops(int intervals) {
    return IntStream.range(0, intervals).mapToObj(this::mopsIn).toList();
  }

  private double mopsIn(int interval) {
    long operations = 0;
    for (long[] counts : perInterval) {
      operations += interval < counts.length ? counts[interval] : 0;
    }
    return operations * 1e3 / clock.intervalNanos();
  }
}
