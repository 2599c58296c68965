package io.fasterkv.bench.cpr.figures;

import io.fasterkv.bench.cpr.experiment.RunClock;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Records the duration of each operation of one thread: a histogram for each interval, and very
 * long ones individually. Used only by that thread until it has ended.
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
   * A long operation.
   *
   * @param begin a {@link System#nanoTime} value
   * @param queuedNanos upper bound of the time that its thread waited for a processor
   */
  record LongOperation(long begin, long end, long queuedNanos) {
    long nanos() {
      return end - begin;
    }

    /** The duration without the wait for a processor. */
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

  /** Creates an empty histogram. */
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

  /** The time of this method is not counted for any operation. */
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

  /** The histogram of each interval. */
  List<Histogram> intervals() {
    return intervals;
  }

  /** Operations of a tenth of a millisecond or more, in order. */
  List<LongOperation> longOnes() {
    return longOnes;
  }
}
