package io.fasterkv.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.cluster.job.CountingJob;
import io.fasterkv.cluster.job.CountingPlan;
import io.fasterkv.packaging.JarOfTests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A counting job on a cluster, from its submission to the check of its results. */
final class RunningJob {
  private final StandaloneCluster cluster;
  private final CountingPlan plan;
  private final Path checkpoints;
  private final int tasks;
  private final JobID id;

  private RunningJob(
      StandaloneCluster cluster, CountingPlan plan, Path checkpoints, int tasks, JobID id) {
    this.cluster = cluster;
    this.plan = plan;
    this.checkpoints = checkpoints;
    this.tasks = tasks;
    this.id = id;
  }

  /**
   * Submits a job with its jar.
   *
   * @param directory for the jar, the gate and the results
   * @param checkpoints where the cluster's checkpoints are
   */
  static RunningJob submit(
      StandaloneCluster cluster, CountingSize size, Path directory, Path checkpoints)
      throws Exception {
    CountingPlan plan =
        new CountingPlan(
            size.numbers(),
            size.keys(),
            size.perSecond(),
            directory.resolve("gate").toString(),
            directory.resolve("results").toString());
    Path jar = JarOfTests.of(CountingJob.class, directory.resolve("job.jar"));
    Configuration config = cluster.configuration();
    try (StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createRemoteEnvironment(
            config.get(RestOptions.ADDRESS),
            config.get(RestOptions.PORT),
            config,
            jar.toString())) {
      env.setParallelism(size.parallelism());
      CountingJob.build(env, plan);
      JobID id = env.executeAsync("count").getJobID();
      return new RunningJob(cluster, plan, checkpoints, 2 * size.parallelism(), id);
    }
  }

  JobID id() {
    return id;
  }

  /** Waits until all tasks run. */
  void awaitRunning() throws Exception {
    await("all tasks run", () -> cluster.rest().runningTasks(id) == tasks);
  }

  /** Waits until a checkpoint is complete that was not when this was called. */
  void awaitAnotherCheckpoint() throws Exception {
    long before = cluster.rest().completed(id);
    await(
        "a checkpoint after " + before + " is complete",
        () -> cluster.rest().completed(id) > before);
  }

  /**
   * Waits until files of a checkpoint are being written; returns its number. It may be complete by
   * now.
   */
  long awaitCheckpointUnderWay() throws Exception {
    long[] found = new long[1];
    Await.until(
        "a checkpoint is being written",
        1,
        () -> {
          found[0] = newestIncomplete();
          return found[0] > 0;
        });
    return found[0];
  }

  private long newestIncomplete() throws IOException {
    Path directory = checkpoints.resolve(id.toString());
    if (!Files.isDirectory(directory)) {
      return 0;
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("chk-"))
          .filter(file -> !Files.exists(file.resolve("_metadata")))
          .mapToLong(file -> Long.parseLong(file.getFileName().toString().substring(4)))
          .max()
          .orElse(0);
    }
  }

  /** Waits until it is known how a checkpoint has ended; returns whether it failed. */
  boolean hasFailed(long checkpoint) throws Exception {
    String[] status = new String[1];
    await(
        "checkpoint " + checkpoint + " has ended",
        () -> {
          status[0] = cluster.rest().checkpointStatus(id, checkpoint);
          return Set.of("FAILED", "COMPLETED").contains(status[0]);
        });
    return status[0].equals("FAILED");
  }

  /** Lets the job run to its end, and waits for that. */
  void finish() throws Exception {
    Files.createFile(Path.of(plan.gate()));
    Await.until(
        "the job has finished",
        () -> {
          cluster.check();
          String state = cluster.rest().jobState(id);
          assertThat(state).isNotIn("FAILED", "CANCELED", "SUSPENDED");
          return state.equals("FINISHED");
        });
  }

  /** Ends the job, if it goes on, and waits until its slots are free. */
  void cancel() throws Exception {
    Await.until(
        "the job has ended",
        () -> {
          cluster.check();
          cluster.rest().cancel(id);
          return Set.of("FINISHED", "FAILED", "CANCELED").contains(cluster.rest().jobState(id));
        });
  }

  /** No number was lost, and none counted twice. */
  void checkResults() throws IOException {
    Set<String> expected = new TreeSet<>();
    for (long key = 0; key < plan.keys(); key++) {
      expected.add(plan.fact(key));
    }
    Set<String> told = new TreeSet<>();
    try (Stream<Path> files = Files.list(Path.of(plan.results()))) {
      for (Path file : files.toList()) {
        List<String> facts = Files.readAllLines(file);
        told.addAll(facts);
      }
    }
    assertThat(told).isEqualTo(expected);
  }

  /** Waits for something while the job runs; fails if the job ends meanwhile. */
  void await(String what, Await.Condition condition) throws Exception {
    Await.until(
        what,
        () -> {
          cluster.check();
          assertThat(cluster.rest().jobState(id))
              .as("the job's state, waiting until " + what)
              .isNotIn("FINISHED", "FAILED", "CANCELED", "SUSPENDED");
          return condition.holds();
        });
  }
}
