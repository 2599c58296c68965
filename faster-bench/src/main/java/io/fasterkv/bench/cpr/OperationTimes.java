package io.fasterkv.bench.cpr;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * How long each operation of one thread takes: a histogram for each interval, and those that take
 * very long one by one. Used by that thread alone until it has ended.
 */
final class OperationTimes {
  private static final long HIGHEST_NANOS = 100_000_000_000L;
  private static final int DIGITS = 2;
  private static final long LONG_NANOS = 100_000;
  private static final long QUEUE_LOOKS_NANOS = 1_000_000;

  private final RunClock clock;
  private final ProcessorQueue queue;
  private final List<Histogram> intervals = new ArrayList<>();
  private final List<LongOperation> longOnes = new ArrayList<>();
  private Histogram current;
  private long slowPathDue;
  private long intervalEnd;
  private long queued;

  /**
   * An operation that took long.
   *
   * @param begin as {@link System#nanoTime} gives it
   * @param queuedNanos how much of that its thread waited for a processor, or a little more
   */
  record LongOperation(long begin, long end, long queuedNanos) {
    long nanos() {
      return end - begin;
    }

    /** What is left when the thread has a processor of its own. */
    long ownNanos() {
      return Math.max(0, nanos() - queuedNanos);
    }
  }

  OperationTimes(RunClock clock, ProcessorQueue queue) {
    this.clock = clock;
    this.queue = queue;
    current = newHistogram();
    intervals.add(current);
    intervalEnd = clock.begin() + clock.intervalNanos();
    queued = queue.nanos();
    slowPathDue = System.nanoTime();
  }

  /** An empty one. */
  static Histogram newHistogram() {
    return new Histogram(HIGHEST_NANOS, DIGITS);
  }

  /** Notes an operation, and returns when the next one begins. */
  long note(long begin, long end) {
    long nanos = end - begin;
    if (nanos >= LONG_NANOS || end - slowPathDue >= 0) {
      return noteAndLook(begin, end);
    }
    current.recordValue(nanos);
    return end;
  }

  /** What this takes is nobody's. */
  private long noteAndLook(long begin, long end) {
    while (end - intervalEnd >= 0) {
      current = newHistogram();
      intervals.add(current);
      intervalEnd += clock.intervalNanos();
    }
    current.recordValue(Math.min(end - begin, HIGHEST_NANOS));
    long before = queued;
    queued = queue.nanos();
    if (end - begin >= LONG_NANOS) {
      longOnes.add(new LongOperation(begin, end, queued - before));
    }
    long now = System.nanoTime();
    slowPathDue = Math.min(now + QUEUE_LOOKS_NANOS, intervalEnd);
    return now;
  }

  /** Of each interval. */
  List<Histogram> intervals() {
    return intervals;
  }

  /** Those that took a tenth of a millisecond and more, in their order. */
  List<LongOperation> longOnes() {
    return longOnes;
  }
}
