package io.fasterkv.bench.flink;

import io.fasterkv.bench.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Counts the reads in each tenth of a second. For one thread. */
final class ReadRates {
  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * The number of consecutive windows that must be fast enough, since a single one may be so by
   * chance.
   */
  private static final int WINDOWS_TOGETHER = 5;

  private static final double SHARE = 0.9;

  private final long begin;
  private final List<Long> windows = new ArrayList<>();
  private long count;

  ReadRates(long beginNanos) {
    begin = beginNanos;
  }

  /** Counts a read that has just ended. */
  void add(long nowNanos) {
    while (nowNanos - begin >= (windows.size() + 1) * WINDOW_NANOS) {
      windows.add(count);
      count = 0;
    }
    count++;
  }

  /** The reads per second at the end. */
  double steady(long lastNanos) {
    int last = (int) Math.clamp(lastNanos / WINDOW_NANOS, 1, windows.size());
    List<Double> counts =
        windows.subList(windows.size() - last, windows.size()).stream()
            .map(Long::doubleValue)
            .toList();
    return Spread.of(counts).median() * TimeUnit.SECONDS.toNanos(1) / WINDOW_NANOS;
  }

  /** The time from the first read until reads reach 90% of their final rate. */
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
