package io.fasterkv.bench.job;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;

/** How many events a job had read at each of many moments, and what follows from it. */
final class Timeline {
  /** A job has recovered when it has had this share of its earlier throughput ... */
  private static final double RECOVERED = 0.9;

  /** ... for this long. */
  private static final long RECOVERED_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** The throughput before a failure is that of this time. */
  private static final long BEFORE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final long beginNanos;
  private final List<Sample> samples = new ArrayList<>();

  /**
   * @param beginNanos when the job was submitted
   */
  Timeline(long beginNanos) {
    this.beginNanos = beginNanos;
  }

  /**
   * A moment.
   *
   * @param nanos as of {@link System#nanoTime}
   * @param events emitted by the sources until then
   * @param cpuNanos of the cluster's processes until then
   */
  record Sample(long nanos, long events, long cpuNanos) {}

  void add(Sample sample) {
    samples.add(sample);
  }

  /** Drops what follows the first sample after a job's end: its cluster was idle then. */
  void endAt(long nanos) {
    while (samples.size() > 1 && samples.get(samples.size() - 2).nanos >= nanos) {
      samples.removeLast();
    }
  }

  /** From the job's submission to the first {@code events}, in seconds; empty if never. */
  OptionalDouble secondsTo(long events) {
    return samples.stream()
        .filter(sample -> sample.events >= events)
        .mapToDouble(sample -> seconds(sample.nanos - beginNanos))
        .findFirst();
  }

  /** Processor time until the first {@code events}, in seconds; empty if never. */
  OptionalDouble cpuSecondsTo(long events) {
    long begin = samples.getFirst().cpuNanos;
    return samples.stream()
        .filter(sample -> sample.events >= events)
        .mapToDouble(sample -> seconds(sample.cpuNanos - begin))
        .findFirst();
  }

  /** Processor time of the whole run, in seconds. */
  double cpuSeconds() {
    return seconds(samples.getLast().cpuNanos - samples.getFirst().cpuNanos);
  }

  /** Events a second from the first {@code events} up to a moment. */
  double perSecond(long events, long toNanos) {
    Sample from =
        samples.stream().filter(sample -> sample.events >= events).findFirst().orElse(at(toNanos));
    return perSecond(from, at(toNanos), toNanos - from.nanos);
  }

  /** The throughput in the middle of each of many parts of the run, which have the same length. */
  List<JobResult.Moment> moments(int parts) {
    long length = Math.max(1, (samples.getLast().nanos - beginNanos) / parts);
    List<JobResult.Moment> moments = new ArrayList<>();
    for (int part = 0; part < parts; part++) {
      Sample from = at(beginNanos + part * length);
      Sample to = at(beginNanos + (part + 1) * length);
      moments.add(
          new JobResult.Moment(
              seconds(part * length + length / 2), perSecond(from, to, to.nanos - from.nanos)));
    }
    return moments;
  }

  /**
   * From a failure until the job has 90 % of the throughput before it, in seconds.
   *
   * @param restartNanos when the sources were started again
   */
  OptionalDouble recoverySeconds(long failureNanos, long restartNanos, long warmEvents) {
    Sample failure = at(failureNanos);
    Sample before = at(failureNanos - BEFORE_NANOS);
    if (before.events < warmEvents) {
      before = samples.stream().filter(s -> s.events >= warmEvents).findFirst().orElse(before);
    }
    double earlier = perSecond(before, failure, failure.nanos - before.nanos);
    int from = 0;
    for (Sample sample : samples) {
      while (samples.get(from).nanos < sample.nanos - RECOVERED_NANOS) {
        from++;
      }
      Sample begin = samples.get(from);
      if (begin.nanos >= restartNanos
          && sample.nanos - begin.nanos >= RECOVERED_NANOS / 2
          && perSecond(begin, sample, sample.nanos - begin.nanos) >= RECOVERED * earlier) {
        return OptionalDouble.of(seconds(begin.nanos - failureNanos));
      }
    }
    return OptionalDouble.empty();
  }

  /** The last sample up to a moment, or the first one. */
  private Sample at(long nanos) {
    Sample last = samples.getFirst();
    for (Sample sample : samples) {
      if (sample.nanos > nanos) {
        break;
      }
      last = sample;
    }
    return last;
  }

  private static double perSecond(Sample from, Sample to, long nanos) {
    return nanos <= 0 ? 0 : (to.events - from.events) / seconds(nanos);
  }

  private static double seconds(long nanos) {
    return nanos / (double) TimeUnit.SECONDS.toNanos(1);
  }
}
