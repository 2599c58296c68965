package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A reporter of a cluster sees what the backend tells, and what Flink tracks around it. */
class MetricsOfAJobTest {
  private static final InMemoryReporter REPORTER = InMemoryReporter.create();

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(() ->
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(REPORTER.addToConfiguration(new Configuration()))
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  private static final long NUMBERS = 100 * CheckedStates.KEYS;

  @TempDir private Path directory;

  @Test
  void areThereWhileTheJobRunsAndGoWithIt() throws Exception {
    JobClient job = start();
    await(job.getJobID(), ".faster.snapshotsTaken", value -> value > 0);
    await(job.getJobID(), ".faster.memoryUsedBytes", value -> value > 0);
    await(job.getJobID(), ".faster.indexEntries", value -> value > 0);
    assertThat(find(job.getJobID(), "valueStateGetLatency")).isNotEmpty();
    assertThat(find(job.getJobID(), "valueStateGetKeySize")).isNotEmpty();
    assertThat(find(job.getJobID(), "mapStatePutLatency")).isNotEmpty();

    Map<String, Metric> ofTheJob = find(job.getJobID(), ".faster.memoryUsedBytes");
    job.cancel().get();
    while (!find(job.getJobID(), ".faster.").isEmpty()) {
      Thread.sleep(10);
    }
    assertThat(ofTheJob.values()).allSatisfy(gone -> assertThat(value(gone)).isZero());
  }

  private JobClient start() throws Exception {
    Configuration config = JobSettings.INCREMENTAL.config(directory);
    config.setString("state.latency-track.keyed-state-enabled", "true");
    config.setString("state.latency-track.sample-interval", "1");
    config.setString("state.size-track.keyed-state-enabled", "true");
    config.setString("state.size-track.sample-interval", "1");
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
    env.setParallelism(2);
    env.fromSource(
            new DataGeneratorSource<>(
                number -> number,
                NUMBERS,
                readers -> new SlowUntil(1_000, () -> false),
                Types.LONG),
            WatermarkStrategy.<Long>forMonotonousTimestamps()
                .withTimestampAssigner((number, none) -> number),
            "numbers")
        .setParallelism(1)
        .keyBy(CheckedStates::key)
        .process(new CheckedStates(NUMBERS))
        .sinkTo(new DiscardingSink<>());
    return env.executeAsync();
  }

  /** Waits until two subtasks tell {@code name}, and both are as wanted. */
  private static void await(JobID job, String name, Predicate<Long> wanted)
      throws InterruptedException {
    Map<String, Metric> found = find(job, name);
    while (found.size() < 2
        || !found.values().stream().allMatch(each -> wanted.test(value(each)))) {
      Thread.sleep(10);
      found = find(job, name);
    }
  }

  private static Map<String, Metric> find(JobID job, String part) {
    return REPORTER.getMetricsByIdentifiers(job).entrySet().stream()
        .filter(entry -> entry.getKey().contains(part))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private static long value(Metric gauge) {
    return (Long) ((Gauge<?>) gauge).getValue();
  }
}
