package io.fasterkv.bench.job;

import io.fasterkv.bench.events.EventClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * What the tasks of a job share with the process around them: they run in one JVM, and are created
 * anew after a failure. Tasks find it by its name.
 */
public final class JobMeter implements AutoCloseable {
  private static final Map<String, JobMeter> OPEN = new ConcurrentHashMap<>();
  private static final AtomicLong NAMES = new AtomicLong();
  private static final long NOT_STARTED = Long.MIN_VALUE;
  private static final int DIGITS = 3;

  /** Counters of different readers are this far apart, on different cache lines. */
  private static final int STRIDE = 16;

  private final String name = "run-" + NAMES.incrementAndGet();
  private final JobPlan plan;
  private final AtomicLongArray emitted;
  private final AtomicLong paceBegin = new AtomicLong(NOT_STARTED);
  private final Histogram latencyMicros = new ConcurrentHistogram(DIGITS);
  private final List<Long> failureMillis;
  private final AtomicInteger failures = new AtomicInteger();
  private final List<Long> failureNanos = new ArrayList<>();
  private final Map<Integer, Digest> digests = new ConcurrentHashMap<>();
  private final Queue<Long> readerStarts = new ConcurrentLinkedQueue<>();
  private final AtomicLong endNanos = new AtomicLong();
  private final AtomicInteger sources = new AtomicInteger();

  private JobMeter(JobPlan plan) {
    this.plan = plan;
    emitted = new AtomicLongArray((plan.parallelism() + 1) * STRIDE);
    failureMillis = plan.failureMillis();
  }

  /** Opens one for a run. */
  public static JobMeter open(JobPlan plan) {
    JobMeter meter = new JobMeter(plan);
    OPEN.put(meter.name, meter);
    return meter;
  }

  /** The open one of this name. */
  public static JobMeter of(String name) {
    JobMeter meter = OPEN.get(name);
    if (meter == null) {
      throw new IllegalStateException("no such run in this process: run=" + name);
    }
    return meter;
  }

  /** What tasks find it by. */
  public String name() {
    return name;
  }

  /** What is run. */
  public JobPlan plan() {
    return plan;
  }

  /** Counts a source of the job; a job reads its events once. */
  void addSource() {
    sources.incrementAndGet();
  }

  /** How many sources the job has. */
  public int sources() {
    return sources.get();
  }

  /** Called by a reader, the only writer of its counter, for each event. */
  void count(int reader) {
    int counter = (reader + 1) * STRIDE;
    emitted.setRelease(counter, emitted.getPlain(counter) + 1);
  }

  /** Events that sources have emitted; those repeated after a failure count again. */
  long emitted() {
    long sum = 0;
    for (int reader = 0; reader < plan.parallelism(); reader++) {
      sum += emitted.getAcquire((reader + 1) * STRIDE);
    }
    return sum;
  }

  /** Called by a reader that starts. The first one starts the pace, which no failure stops. */
  void readerStarted() {
    long now = System.nanoTime();
    paceBegin.compareAndSet(NOT_STARTED, now);
    readerStarts.add(now);
  }

  /** When a reader started for the first time after a moment; the moment itself if none has. */
  long restartNanos(long afterNanos) {
    return readerStarts.stream()
        .filter(start -> start > afterNanos)
        .min(Long::compare)
        .orElse(afterNanos);
  }

  /** When an event is due, as {@link System#nanoTime}. */
  long dueNanos(long number) {
    double seconds = (double) number / plan.pace().eventsPerSecond();
    return paceBegin.getAcquire() + (long) (seconds * TimeUnit.SECONDS.toNanos(1));
  }

  /** When the first event of an event time is due. */
  long dueNanosAt(long millis) {
    return dueNanos(EventClock.firstAt(millis));
  }

  /** Records that everything before an event has been processed now. */
  void processed(long dueNanos) {
    latencyMicros.recordValue(
        Math.max(0, TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - dueNanos)));
  }

  /** Says whether latency is measured at an event time. */
  boolean isSteady(long millis) {
    return EventClock.firstAt(millis) >= plan.warmEvents();
  }

  /** From the moment an event was due, in microseconds; empty where no pace was set. */
  Histogram latencyMicros() {
    return latencyMicros;
  }

  /** Throws at the first event of a time at which the job has to fail, once for each. */
  void failIfPlanned(long millis) {
    int next = failures.get();
    if (next < failureMillis.size()
        && millis >= failureMillis.get(next)
        && failures.compareAndSet(next, next + 1)) {
      synchronized (failureNanos) {
        failureNanos.add(System.nanoTime());
      }
      throw new PlannedFailure("the benchmark fails this task on purpose: failure=" + (next + 1));
    }
  }

  /** When tasks failed on purpose. */
  List<Long> failureNanos() {
    synchronized (failureNanos) {
      return List.copyOf(failureNanos);
    }
  }

  /** Called by a sink's task that has processed its last row. */
  void ended(int subtask, Digest digest) {
    digests.put(subtask, digest);
    endNanos.accumulateAndGet(System.nanoTime(), Math::max);
  }

  /** The result of all tasks of the sink. */
  public Digest digest() {
    return digests.values().stream().reduce(Digest.EMPTY, Digest::plus);
  }

  /** When the last task of the sink ended; 0 before. */
  long endNanos() {
    return endNanos.get();
  }

  @Override
  public void close() {
    OPEN.remove(name);
  }

  /** Thrown by a healthy task. */
  static final class PlannedFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    PlannedFailure(String message) {
      super(message);
    }
  }
}
