package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One job at one parallelism after the other; each key's state is checked at each of them. */
class RescaleTest {
  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(4)
              .build());

  private static final long NUMBERS = 40 * CheckedStates.KEYS;
  private static final int BURST = (int) (6 * CheckedStates.KEYS);
  private static final int MAX_PARALLELISM = 37;
  private static volatile boolean isLast;

  @TempDir private Path directory;

  @ParameterizedTest
  @EnumSource(JobSettings.class)
  void stateIsWholeAtOneFourTwoAndThreeTasks(
      JobSettings settings, @InjectMiniCluster MiniCluster cluster) throws Exception {
    isLast = false;
    CheckedStates.ended.set(0);
    Configuration config = settings.config(directory);
    config.setString("restart-strategy.type", "none");

    JobClient job = start(config, 1);
    String path = cluster.triggerCheckpoint(job.getJobID()).get();
    job.cancel().get();
    awaitEnd(cluster, job.getJobID());

    config.set(StateRecoveryOptions.SAVEPOINT_PATH, path);
    job = start(config, 4);
    path = stop(job, SavepointFormatType.CANONICAL);

    config.set(StateRecoveryOptions.SAVEPOINT_PATH, path);
    job = start(config, 2);
    path = stop(job, SavepointFormatType.NATIVE);

    config.set(StateRecoveryOptions.SAVEPOINT_PATH, path);
    job = start(config, 3);
    isLast = true;
    job.getJobExecutionResult().get();
    assertThat(CheckedStates.ended.get()).isEqualTo((int) CheckedStates.KEYS);
  }

  private String stop(JobClient job, SavepointFormatType format) throws Exception {
    return job.stopWithSavepoint(false, directory.resolve("savepoints").toUri().toString(), format)
        .get();
  }

  /** Starts the job, and returns when each key's state was found right several times. */
  private static JobClient start(Configuration config, int parallelism) throws Exception {
    CheckedStates.taken.set(0);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
    env.setParallelism(parallelism);
    env.setMaxParallelism(MAX_PARALLELISM);
    env.fromSource(
            new DataGeneratorSource<>(
                number -> number,
                NUMBERS,
                readers -> new SlowUntil(BURST, () -> isLast),
                Types.LONG),
            WatermarkStrategy.<Long>forMonotonousTimestamps()
                .withTimestampAssigner((number, none) -> number),
            "numbers")
        .uid("numbers")
        .setParallelism(1)
        .keyBy(CheckedStates::key)
        .process(new CheckedStates(NUMBERS))
        .uid("states")
        .sinkTo(new DiscardingSink<>())
        .uid("sink");
    JobClient job = env.executeAsync();
    while (CheckedStates.taken.get() < BURST) {
      if (job.getJobStatus().get() == JobStatus.FAILED) {
        job.getJobExecutionResult().get();
      }
      Thread.sleep(20);
    }
    return job;
  }

  private static void awaitEnd(MiniCluster cluster, JobID job) throws Exception {
    while (!cluster.getJobStatus(job).get().isGloballyTerminalState()) {
      Thread.sleep(20);
    }
  }
}
