package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
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

/**
 * Tests that a cluster's reporter receives the backend's metrics, and Flink's metrics of the
 * backend.
 */
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
    await(".faster.snapshotsTaken", value -> value > 0);
    await(".faster.memoryUsedBytes", value -> value > 0);
    await(".faster.indexEntries", value -> value > 0);
    await("valueStateGetLatency");
    await("valueStateGetKeySize");
    await("mapStatePutLatency");

    List<Metric> ofTheJob = find(".faster.memoryUsedBytes");
    job.cancel().get();
    while (!job.getJobStatus().get().isGloballyTerminalState() || !find(".faster.").isEmpty()) {
      Thread.sleep(10);
    }
    assertThat(ofTheJob).allSatisfy(gone -> assertThat(value(gone)).isZero());
  }

  private JobClient start() throws Exception {
    Configuration config = JobSettings.INCREMENTAL.config(directory);
    config.setString("state.latency-track.keyed-state-enabled", "true");
    config.setString("state.latency-track.sample-interval", "2");
    config.setString("state.size-track.keyed-state-enabled", "true");
    config.setString("state.size-track.sample-interval", "2");
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

  /** Waits until a metric with that name exists. */
  private static void await(String name) throws InterruptedException {
    while (find(name).isEmpty()) {
      Thread.sleep(10);
    }
  }

  /** Waits until two subtasks report {@code name}, and both values match. */
  private static void await(String name, Predicate<Long> wanted) throws InterruptedException {
    List<Metric> found = find(name);
    while (found.size() < 2 || !found.stream().allMatch(each -> wanted.test(value(each)))) {
      Thread.sleep(10);
      found = find(name);
    }
  }

  /** The metrics whose identifiers contain {@code part}. The cluster runs only one job. */
  private static List<Metric> find(String part) {
    List<Metric> found = new ArrayList<>();
    REPORTER
        .getMetricsByGroup()
        .forEach((group, metrics) ->
            metrics.forEach((name, metric) -> {
              if (group.getMetricIdentifier(name).contains(part)) {
                found.add(metric);
              }
            }));
    return found;
  }

  private static long value(Metric gauge) {
    return (Long) ((Gauge<?>) gauge).getValue();
  }
}
