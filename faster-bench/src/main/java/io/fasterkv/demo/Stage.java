package io.fasterkv.demo;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.executiongraph.ErrorInfo;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/** One cluster with one job, from its submission to its end. */
final class Stage implements AutoCloseable {
  private final MiniCluster cluster;
  private final JobID job;
  private final CompletableFuture<JobResult> result;

  private Stage(MiniCluster cluster, JobID job, CompletableFuture<JobResult> result) {
    this.cluster = cluster;
    this.job = job;
    this.result = result;
  }

  /** Starts a cluster with the given settings and submits the job. */
  static Stage start(Configuration settings, StreamGraph graph) throws Exception {
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(settings.get(TaskManagerOptions.NUM_TASK_SLOTS))
                .setCommonBindAddress(ClusterSettings.LOOPBACK)
                .withRandomPorts()
                .build());
    try {
      cluster.start();
      JobID job = cluster.submitJob(graph.getJobGraph()).get().getJobID();
      return new Stage(cluster, job, cluster.requestJobResult(job));
    } catch (Exception e) {
      cluster.close();
      throw e;
    }
  }

  /** Returns Flink's current statistics of the job's checkpoints, or null if there are none. */
  @Nullable CheckpointStatsSnapshot checkpoints() throws InterruptedException {
    try {
      return cluster.getExecutionGraph(job).get().getCheckpointStatsSnapshot();
    } catch (ExecutionException e) {
      return null;
    }
  }

  /** Starts stopping the job with a savepoint below {@code directory}; the result is its path. */
  CompletableFuture<String> stopWithSavepoint(String directory, SavepointFormatType format) {
    return cluster.stopWithSavepoint(job, directory, false, format);
  }

  /** Says whether every task has restored its state and is running. */
  boolean isRunning() throws InterruptedException {
    try {
      AccessExecutionGraph graph = cluster.getExecutionGraph(job).get();
      for (AccessExecutionVertex task : graph.getAllExecutionVertices()) {
        if (task.getExecutionState() != ExecutionState.RUNNING) {
          return false;
        }
      }
      return graph.getState() == JobStatus.RUNNING;
    } catch (ExecutionException e) {
      return false;
    }
  }

  /** Returns why tasks failed last, in one line; empty if none has. */
  String lastFailure() throws InterruptedException {
    try {
      ErrorInfo info = cluster.getExecutionGraph(job).get().getFailureInfo();
      return info == null ? "" : info.getExceptionAsString().lines().findFirst().orElse("");
    } catch (ExecutionException e) {
      return "";
    }
  }

  /** Says whether the job has ended in any way. */
  boolean isDone() {
    return result.isDone();
  }

  /** Returns why the ended job failed, or empty if it did not. */
  Optional<Throwable> failure() throws InterruptedException {
    try {
      return result
          .get()
          .getSerializedThrowable()
          .map(thrown -> thrown.deserializeError(Stage.class.getClassLoader()));
    } catch (ExecutionException e) {
      return Optional.of(e);
    }
  }

  @Override
  public void close() {
    cluster.closeAsync().join();
  }
}
