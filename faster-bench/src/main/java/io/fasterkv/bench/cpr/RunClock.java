package io.fasterkv.bench.cpr;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** The time of one run, and its end; all its threads have the same. */
final class RunClock {
  private static final long NAP_NANOS = 5_000_000;

  private final long begin = System.nanoTime();
  private final long intervalNanos;
  private volatile boolean isOver;

  RunClock(long intervalNanos) {
    this.intervalNanos = intervalNanos;
  }

  boolean isOver() {
    return isOver;
  }

  /** Tells all threads to come to an end. */
  void stop() {
    isOver = true;
  }

  long begin() {
    return begin;
  }

  /** Since the begin. */
  long elapsedNanos() {
    return System.nanoTime() - begin;
  }

  /** Of a moment as {@link System#nanoTime} gives it. */
  double seconds(long now) {
    return (now - begin) / 1e9;
  }

  long intervalNanos() {
    return intervalNanos;
  }

  /** Which point of a plot a moment belongs to. */
  int interval(long now) {
    return (int) Math.max(0, (now - begin) / intervalNanos);
  }

  /** When each of the first intervals begins. */
  List<Double> intervalSeconds(int intervals) {
    return IntStream.range(0, intervals).mapToObj(i -> i * intervalNanos / 1e9).toList();
  }

  /** Waits until so long after the begin; returns at once when that is over. */
  void awaitNanos(long sinceBegin) throws InterruptedException {
    for (long left; (left = sinceBegin - elapsedNanos()) > 0; ) {
      if (isOver) {
        throw new IllegalStateException("a thread of the run has ended too early");
      }
      Thread.sleep(Duration.ofNanos(Math.min(left, NAP_NANOS)));
    }
  }
}
