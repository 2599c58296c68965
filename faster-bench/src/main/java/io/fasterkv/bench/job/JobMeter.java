package io.fasterkv.bench.job;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * What the process that measures a job learns from its tasks, which may run in other processes and
 * are created anew after a failure: they write to a file that all of them map, through a {@link
 * TaskMeter}. SQL finds an open meter by its name.
 */
public final class JobMeter implements AutoCloseable {
  private static final Map<String, JobMeter> OPEN = new ConcurrentHashMap<>();
  private static final AtomicLong NAMES = new AtomicLong();
  private static final int DIGITS = 3;

  private final String name = "run-" + NAMES.incrementAndGet();
  private final JobPlan plan;
  private final Path path;
  private final MeterLayout layout;
  private final MeterFile file;
  private final AtomicInteger sources = new AtomicInteger();

  private JobMeter(JobPlan plan, Path path) throws IOException {
    this.plan = plan;
    this.path = path;
    layout = plan.layout();
    file = MeterFile.create(path, layout.bytes());
  }

  /**
   * Opens one for a run.
   *
   * @param directory of the run, which has no meter yet
   */
  public static JobMeter open(JobPlan plan, Path directory) throws IOException {
    JobMeter meter = new JobMeter(plan, directory.toAbsolutePath().resolve("meter"));
    OPEN.put(meter.name, meter);
    return meter;
  }

  /** The one of this name, which this process has opened. */
  public static JobMeter of(String name) {
    JobMeter meter = OPEN.get(name);
    if (meter == null) {
      throw new IllegalStateException("no such run in this process: run=" + name);
    }
    return meter;
  }

  /** What SQL finds it by. */
  public String name() {
    return name;
  }

  /** What is run. */
  public JobPlan plan() {
    return plan;
  }

  /** What tasks open their meters with. */
  TaskMeter.Handle forTasks() {
    return new TaskMeter.Handle(path.toString(), plan);
  }

  /** Counts a source of the job; a job reads its events once. */
  void addSource() {
    sources.incrementAndGet();
  }

  /** How many sources the job has. */
  public int sources() {
    return sources.get();
  }

  /** Events that sources have emitted; those repeated after a failure count again. */
  long emitted() {
    long sum = 0;
    for (int reader = 0; reader < layout.tasks(); reader++) {
      sum += file.loadAcquire(layout.emitted(reader));
    }
    return sum;
  }

  /** When a reader started for the first time after a moment; the moment itself if none has. */
  long restartNanos(long afterNanos) {
    return IntStream.range(0, layout.starts())
        .mapToLong(start -> file.loadAcquire(layout.started(start)))
        .filter(nanos -> nanos != 0 && nanos > afterNanos)
        .min()
        .orElse(afterNanos);
  }

  /** When tasks failed on purpose. */
  long[] failureNanos() {
    return IntStream.range(0, layout.failures())
        .mapToLong(failure -> file.loadAcquire(layout.failed(failure)))
        .filter(nanos -> nanos != 0)
        .toArray();
  }

  /** From the moment an event was due, in microseconds; empty where no pace was set. */
  Histogram latencyMicros() {
    Histogram micros = new Histogram(DIGITS);
    for (int bucket = 0; bucket < LatencyBuckets.COUNT; bucket++) {
      long count = file.loadAcquire(layout.latency(bucket));
      if (count > 0) {
        micros.recordValueWithCount(LatencyBuckets.lowest(bucket), count);
      }
    }
    return micros;
  }

  /** When the last task of the sink ended; 0 before. */
  long endNanos() {
    return IntStream.range(0, layout.tasks())
        .mapToLong(subtask -> file.loadAcquire(layout.ended(subtask)))
        .max()
        .orElse(0);
  }

  /** The result of all tasks of the sink. */
  public Digest digest() {
    Digest all = Digest.EMPTY;
    for (int subtask = 0; subtask < layout.tasks(); subtask++) {
      if (file.loadAcquire(layout.ended(subtask)) != 0) {
        all = all.plus(digest(subtask));
      }
    }
    return all;
  }

  private Digest digest(int subtask) {
    return new Digest(
        file.loadAcquire(layout.added(subtask)),
        file.loadAcquire(layout.removed(subtask)),
        file.loadAcquire(layout.sum(subtask)));
  }

  @Override
  public void close() {
    OPEN.remove(name);
  }
}
