package io.fasterkv.bench.cpr.experiment;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** The clock of one run, shared by all its threads, and its end. */
public final class RunClock {
  private static final long NAP_NANOS = 5_000_000;

  private final long begin = System.nanoTime();
  private final long intervalNanos;
  private volatile boolean isOver;

  public RunClock(long intervalNanos) {
    this.intervalNanos = intervalNanos;
  }

  public boolean isOver() {
    return isOver;
  }

  /** Tells all threads to end. */
  public void stop() {
    isOver = true;
  }

  public long begin() {
    return begin;
  }

  /** Time since the start. */
  public long elapsedNanos() {
    return System.nanoTime() - begin;
  }

  /** Seconds of a {@link System#nanoTime} value. */
  public double seconds(long now) {
    return (now - begin) / 1e9;
  }

  public long intervalNanos() {
    return intervalNanos;
  }

  /** The point of a plot for a moment. */
  public int interval(long now) {
    return (int) Math.max(0, (now - begin) / intervalNanos);
  }

  /** When each of the first intervals begins. */
  public List<Double> intervalSeconds(int intervals) {
    return IntStream.range(0, intervals).mapToObj(i -> i * intervalNanos / 1e9).toList();
  }

  /** Waits until a time after the start; returns at once if it has passed. */
  public void awaitNanos(long sinceBegin) throws InterruptedException {
    for (long left; (left = sinceBegin - elapsedNanos()) > 0; ) {
      if (isOver) {
        throw new IllegalStateException("a thread of the run has ended too early");
      }
      Thread.sleep(Duration.ofNanos(Math.min(left, NAP_NANOS)));
    }
  }
}
