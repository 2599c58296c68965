package io.fasterkv.bench.flink;

import io.fasterkv.bench.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** How many reads there were in each tenth of a second. For one thread. */
final class ReadRates {
  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** So many windows together must be fast enough: one is short enough for chance. */
  private static final int WINDOWS_TOGETHER = 5;

  private static final double SHARE = 0.9;

  private final long begin;
  private final List<Long> windows = new ArrayList<>();
  private long count;

  ReadRates(long beginNanos) {
    begin = beginNanos;
  }

  /** Counts a read that ended now. */
  void add(long nowNanos) {
    while (nowNanos - begin >= (windows.size() + 1) * WINDOW_NANOS) {
      windows.add(count);
      count = 0;
    }
    count++;
  }

  /** Reads in a second, at the end. */
  double steady(long lastNanos) {
    int last = (int) Math.clamp(lastNanos / WINDOW_NANOS, 1, windows.size());
    List<Double> counts =
        windows.subList(windows.size() - last, windows.size()).stream()
            .map(Long::doubleValue)
            .toList();
    return Spread.of(counts).median() * TimeUnit.SECONDS.toNanos(1) / WINDOW_NANOS;
  }

  /** From the first read until they are nine tenths as fast as at the end. */
  long nanosToSteady(long lastNanos) {
    double wanted =
        SHARE * WINDOWS_TOGETHER * steady(lastNanos) * WINDOW_NANOS / TimeUnit.SECONDS.toNanos(1);
    for (int first = 0; first + WINDOWS_TOGETHER < windows.size(); first++) {
      long reads =
          windows.subList(first, first + WINDOWS_TOGETHER).stream()
              .mapToLong(Long::longValue)
              .sum();
      if (reads >= wanted) {
        return first * WINDOW_NANOS;
      }
    }
    return windows.size() * WINDOW_NANOS;
  }
}
