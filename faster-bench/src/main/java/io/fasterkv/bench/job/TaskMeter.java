package io.fasterkv.bench.job;

import io.fasterkv.bench.events.EventClock;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * What a task tells the process that measures its job, and learns from the tasks before it: see
 * {@link MeterLayout}. Used by the task's thread.
 */
final class TaskMeter {
  private final JobPlan plan;
  private final MeterLayout layout;
  private final MeterFile file;
  private final long[] failureMillis;
  private int nextFailure;

  private TaskMeter(JobPlan plan, MeterFile file) {
    this.plan = plan;
    this.file = file;
    layout = plan.layout();
    failureMillis = plan.failureMillis();
  }

  /**
   * A part of the job's operators, with which each task opens its meter, in whatever process.
   *
   * @param file of the {@link JobMeter}
   */
  record Handle(String file, JobPlan plan) implements Serializable {
    TaskMeter open() throws IOException {
      return new TaskMeter(plan, MeterFile.open(Path.of(file)));
    }
  }

  /** What is run. */
  JobPlan plan() {
    return plan;
  }

  /** Called by a reader, the only writer of its counter, for each event. */
  void count(int reader) {
    file.increment(layout.emitted(reader));
  }

  /** Called by a reader that starts. The first one starts the pace, which no failure stops. */
  void readerStarted() {
    long now = System.nanoTime();
    file.compareAndSet(layout.paceBegin(), 0, now);
    long start = file.getAndIncrement(layout.startCount());
    if (start < layout.starts()) {
      file.storeRelease(layout.started((int) start), now);
    }
  }

  /** When an event is due, as {@link System#nanoTime}. */
  long dueNanos(long number) {
    double seconds = (double) number / plan.pace().eventsPerSecond();
    return file.loadAcquire(layout.paceBegin()) + (long) (seconds * TimeUnit.SECONDS.toNanos(1));
  }

  /** When the first event of an event time is due. */
  long dueNanosAt(long millis) {
    return dueNanos(EventClock.firstAt(millis));
  }

  /** Says whether latency is measured at an event time. */
  boolean isSteady(long millis) {
    return EventClock.firstAt(millis) >= plan.warmEvents();
  }

  /** Records that everything before an event has been processed now. */
  void processed(long dueNanos) {
    long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - dueNanos);
    file.getAndIncrement(layout.latency(LatencyBuckets.of(micros)));
  }

  /**
   * Throws at the first event of a time at which the job has to fail, once for each in all attempts
   * of all tasks.
   */
  void failIfPlanned(long millis) {
    while (nextFailure < failureMillis.length && millis >= failureMillis[nextFailure]) {
      nextFailure++;
      if (file.compareAndSet(layout.failed(nextFailure - 1), 0, System.nanoTime())) {
        throw new PlannedFailure(
            "the benchmark fails this task on purpose: failure=" + nextFailure);
      }
    }
  }

  /** Called by a task of the sink that has processed its last row. */
  void ended(int subtask, Digest digest) {
    file.storeRelease(layout.added(subtask), digest.added());
    file.storeRelease(layout.removed(subtask), digest.removed());
    file.storeRelease(layout.sum(subtask), digest.sum());
    file.storeRelease(layout.ended(subtask), System.nanoTime());
  }

  /** Thrown by a healthy task. */
  static final class PlannedFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    PlannedFailure(String message) {
      super(message);
    }
  }
}
