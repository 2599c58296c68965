package io.fasterkv.bench.job;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import org.HdrHistogram.Histogram;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.jspecify.annotations.Nullable;

/** Runs a job on a cluster of its own, and measures it. */
public final class JobRun {
  private static final long SUBMISSION_SECONDS = 120;
  private static final long SAMPLE_MILLIS = 10;
  private static final int SAMPLES_PER_LOOK = 50;
  private static final int MOMENTS = 120;
  private static final long FIRST_EVENTS = 100_000;
  private static final long FIRST_CPU_EVENTS = 300_000;

  private final JobMeter meter;
  private final JobPlan plan;
  private final Path directory;
  private final LongConsumer progress;

  private JobRun(JobMeter meter, Path directory, LongConsumer progress) {
    this.meter = meter;
    this.plan = meter.plan();
    this.directory = directory;
    this.progress = progress;
  }

  /**
   * Runs a job to its end.
   *
   * @param directory for its files, empty
   * @param progress receives the number of events from time to time
   * @throws IOException if the job fails, other than on purpose
   */
  public static JobResult run(JobPlan plan, Path directory, LongConsumer progress)
      throws Exception {
    try (JobMeter meter = JobMeter.open(plan, directory)) {
      return new JobRun(meter, directory, progress).run();
    }
  }

  private JobResult run() throws Exception {
    Configuration settings = JobSettings.of(plan, directory);
    JobGraph graph = graph(settings);
    try (JobCluster cluster = start(settings)) {
      return measured(cluster, graph);
    }
  }

  private JobCluster start(Configuration settings) throws Exception {
    return plan.cluster().isSeparate()
        ? ProcessCluster.start(plan, settings, directory.resolve("cluster"))
        : LocalCluster.start(plan, settings);
  }

  private JobGraph graph(Configuration settings) {
    JobGraph graph = plan.job().graph(meter, settings);
    if (meter.sources() != 1) {
      throw new IllegalStateException(
          "a job must read the events once: job=" + plan.job() + ", sources=" + meter.sources());
    }
    return graph;
  }

  private JobResult measured(JobCluster cluster, JobGraph graph) throws Exception {
    CheckpointFigures checkpoints = new CheckpointFigures(JobSettings.checkpoints(directory));
    long begin = System.nanoTime();
    Timeline timeline = new Timeline(begin);
    timeline.add(sample(cluster));
    JobID job = cluster.client().submitJob(graph).get(SUBMISSION_SECONDS, TimeUnit.SECONDS);
    CompletableFuture<org.apache.flink.runtime.jobmaster.JobResult> end =
        cluster.client().requestJobResult(job);
    for (int samples = 0; !isDone(end); samples++) {
      timeline.add(sample(cluster));
      if (samples % SAMPLES_PER_LOOK == 0) {
        progress.accept(meter.emitted());
        checkpoints.look();
      }
    }
    timeline.add(sample(cluster));
    failIfFailed(end.get());
    timeline.endAt(meter.endNanos());
    long endEpochMillis =
        System.currentTimeMillis()
            - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - meter.endNanos());
    RestApi rest = new RestApi(cluster.client().getWebInterfaceURL());
    return result(timeline, begin, cluster.peakBytes(), checkpoints.sum(rest, job, endEpochMillis));
  }

  /** Waits for the next sample. */
  private static boolean isDone(CompletableFuture<?> end) throws Exception {
    try {
      end.get(SAMPLE_MILLIS, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }

  private Timeline.Sample sample(JobCluster cluster) throws IOException {
    return new Timeline.Sample(System.nanoTime(), meter.emitted(), cluster.cpuNanos());
  }

  private void failIfFailed(org.apache.flink.runtime.jobmaster.JobResult end) throws IOException {
    if (end.getSerializedThrowable().isPresent()) {
      throw new IOException(
          "a job has failed: job=" + plan.job() + ", backend=" + plan.backend(),
          end.getSerializedThrowable().get().deserializeError(JobRun.class.getClassLoader()));
    }
    if (meter.failureNanos().length != plan.failures().size()) {
      throw new IOException(
          "a job did not fail as planned: failures="
              + meter.failureNanos().length
              + ", planned="
              + plan.failures().size());
    }
  }

  private JobResult result(
      Timeline timeline, long begin, long peakBytes, JobResult.@Nullable Checkpoints checkpoints) {
    long[] failures = meter.failureNanos();
    long steadyEnd = Arrays.stream(failures).findFirst().orElse(meter.endNanos());
    List<Double> recoveries = new ArrayList<>();
    for (long failure : failures) {
      timeline
          .recoverySeconds(failure, meter.restartNanos(failure), plan.warmEvents())
          .ifPresent(recoveries::add);
    }
    double seconds = (meter.endNanos() - begin) / 1e9;
    return new JobResult(
        meter.digest(),
        seconds,
        timeline.perSecond(plan.warmEvents(), steadyEnd),
        timeline.moments(MOMENTS),
        orNull(timeline.secondsTo(FIRST_EVENTS)),
        orNull(timeline.cpuSecondsTo(FIRST_CPU_EVENTS)),
        recoveries,
        timeline.cpuSeconds() * 1e6 / plan.input().events(),
        peakBytes,
        latency(meter.latencyMicros()),
        checkpoints,
        null);
  }

  private static JobResult.@Nullable Latency latency(Histogram micros) {
    return micros.getTotalCount() == 0
        ? null
        : new JobResult.Latency(
            micros.getValueAtPercentile(50) / 1e3,
            micros.getValueAtPercentile(90) / 1e3,
            micros.getValueAtPercentile(99) / 1e3,
            micros.getValueAtPercentile(99.9) / 1e3,
            micros.getMaxValue() / 1e3);
  }

  private static @Nullable Double orNull(OptionalDouble figure) {
    return figure.isPresent() ? figure.getAsDouble() : null;
  }
}
