package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * A job that checks each key's state with each number, until another job continues from its state.
 * Each job processes a burst of numbers and then only a few; {@link #end} lets the last job process
 * all remaining ones.
 */
final class CheckedJob {
  private static final long NUMBERS = 40 * CheckedStates.KEYS;
  private static final int BURST = (int) (6 * CheckedStates.KEYS);
  private static final int MAX_PARALLELISM = 37;
  private static volatile boolean isLast;

  private final MiniCluster cluster;
  private final JobClient client;

  private CheckedJob(MiniCluster cluster, JobClient client) {
    this.cluster = cluster;
    this.client = client;
  }

  /** Starts the first job, and returns once each key's state has been checked several times. */
  static CheckedJob startFirst(MiniCluster cluster, Configuration config, int parallelism)
      throws Exception {
    isLast = false;
    CheckedStates.ended.set(0);
    Failures.plan(0);
    return start(cluster, config, parallelism);
  }

  /** Starts the next job. */
  static CheckedJob start(MiniCluster cluster, Configuration config, int parallelism)
      throws Exception {
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
        .map(new Failures.Fail())
        .uid("failures")
        .setParallelism(1)
        .keyBy(CheckedStates::key)
        .process(new CheckedStates(NUMBERS))
        .uid("states")
        .sinkTo(new DiscardingSink<>())
        .uid("sink");
    CheckedJob job = new CheckedJob(cluster, env.executeAsync());
    job.awaitTaken(BURST);
    return job;
  }

  private void awaitTaken(long numbers) throws Exception {
    while (CheckedStates.taken.get() < numbers) {
      if (client.getJobStatus().get() == JobStatus.FAILED) {
        client.getJobExecutionResult().get();
      }
      Thread.sleep(20);
    }
  }

  /** Processes some more numbers, takes a checkpoint, and returns its path. */
  String checkpoint() throws Exception {
    awaitTaken(CheckedStates.taken.get() + 20);
    return cluster.triggerCheckpoint(client.getJobID()).get();
  }

  /** Fails after a checkpoint, and returns once each key's state has been checked again. */
  void fail() throws Exception {
    CheckedStates.taken.set(0);
    Failures.plan(1);
    awaitTaken(BURST);
    assertThat(Failures.left()).isZero();
  }

  void cancel() throws Exception {
    JobID job = client.getJobID();
    client.cancel().get();
    while (!cluster.getJobStatus(job).get().isGloballyTerminalState()) {
      Thread.sleep(20);
    }
  }

  /** Stops the job with a savepoint, and returns its path. */
  String stop(Path savepoints, SavepointFormatType format) throws Exception {
    return client.stopWithSavepoint(false, savepoints.toUri().toString(), format).get();
  }

  /** Processes all remaining numbers, and checks each key's state at the end. */
  void end() throws Exception {
    isLast = true;
    client.getJobExecutionResult().get();
    assertThat(CheckedStates.ended.get()).isEqualTo((int) CheckedStates.KEYS);
  }
}
