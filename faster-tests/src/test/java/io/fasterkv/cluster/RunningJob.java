package io.fasterkv.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.cluster.job.CountingJob;
import io.fasterkv.cluster.job.CountingPlan;
import io.fasterkv.packaging.JarOfTests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A counting job on a cluster, from its submission to the check of its results. */
final class RunningJob {
  private final StandaloneCluster cluster;
  private final CountingPlan plan;
  private final Path checkpoints;
  private final JobID id;

  private RunningJob(StandaloneCluster cluster, CountingPlan plan, Path checkpoints, JobID id) {
    this.cluster = cluster;
    this.plan = plan;
    this.checkpoints = checkpoints;
    this.id = id;
  }

  /**
   * Submits a job with its jar.
   *
   * @param directory for the jar, the gate and the results
   * @param checkpoints where the cluster stores its checkpoints
   */
  static RunningJob submit(
      StandaloneCluster cluster, CountingSize size, Path directory, Path checkpoints)
      throws Exception {
    return submit(cluster, size, directory, checkpoints, Map.of());
  }

  /**
   * Like {@link #submit(StandaloneCluster, CountingSize, Path, Path)}, with settings for the job.
   */
  static RunningJob submit(
      StandaloneCluster cluster,
      CountingSize size,
      Path directory,
      Path checkpoints,
      Map<String, String> settings)
      throws Exception {
    Path jar = JarOfTests.of(CountingJob.class, directory.resolve("job.jar"));
    Program program = new Program(List.of(jar), CountingJob::build);
    return submit(cluster, size, directory, checkpoints, settings, program);
  }

  /**
   * The classes and operators of a job.
   *
   * @param jars with its classes
   */
  record Program(List<Path> jars, Builder builder) {
    /** Adds a job to an environment. */
    interface Builder {
      void build(StreamExecutionEnvironment env, CountingPlan plan) throws Exception;
    }
  }

  /** Submits a job that counts with another program. */
  static RunningJob submit(
      StandaloneCluster cluster,
      CountingSize size,
      Path directory,
      Path checkpoints,
      Map<String, String> settings,
      Program program)
      throws Exception {
    CountingPlan plan =
        new CountingPlan(
            size.numbers(),
            size.keys(),
            size.perSecond(),
            size.pauseMicros(),
            directory.resolve("gate").toString(),
            directory.resolve("results").toString());
    Configuration config = cluster.configuration();
    try (StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createRemoteEnvironment(
            config.get(RestOptions.ADDRESS),
            config.get(RestOptions.PORT),
            config,
            program.jars().stream().map(Path::toString).toArray(String[]::new))) {
      // Set here, since a remote environment ignores the claim mode that it is created with.
      env.configure(Configuration.fromMap(settings));
      env.setParallelism(size.parallelism());
      program.builder().build(env, plan);
      JobID id = env.executeAsync("count").getJobID();
      return new RunningJob(cluster, plan, checkpoints, id);
    }
  }

  /** A job that was submitted by another client. */
  static RunningJob of(StandaloneCluster cluster, CountingPlan plan, Path checkpoints, JobID id) {
    return new RunningJob(cluster, plan, checkpoints, id);
  }

  JobID id() {
    return id;
  }

  /** Waits until all tasks run. */
  void awaitRunning() throws Exception {
    await("all tasks run", () -> cluster.rest().allTasksRun(id));
  }

  /** Kills one of the job's TaskManagers, and waits until all tasks run elsewhere. */
  void killTaskManager() throws Exception {
    int failures = cluster.rest().failures(id).size();
    cluster.replaceTaskManager(cluster.rest().taskManagers(id).iterator().next());
    await(
        "the JobManager has seen the failure", () -> cluster.rest().failures(id).size() > failures);
    awaitRunning();
  }

  /** Waits until another checkpoint completes. */
  void awaitAnotherCheckpoint() throws Exception {
    awaitCheckpoints(1);
  }

  /** Waits for so many checkpoints, the first of which may have begun before. */
  void awaitCheckpoints(int count) throws Exception {
    long wanted = cluster.rest().completed(id) + count;
    await("checkpoint " + wanted + " is complete", () -> cluster.rest().completed(id) >= wanted);
  }

  /**
   * Waits until files of a checkpoint are being written, and returns the checkpoint's number. It
   * may already be complete on return.
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

  /** Waits until a checkpoint has ended; returns whether it failed. */
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

  /** Opens the job's gate, and waits until the job has finished. */
  void finish() throws Exception {
    Files.createFile(Path.of(plan.gate()));
    awaitFinished();
  }

  /** Waits until a job whose gate is open has finished. */
  private void awaitFinished() throws Exception {
    Await.until(
        "the job has finished",
        () -> {
          cluster.check();
          String state = cluster.rest().jobState(id);
          assertThat(state).isNotIn("FAILED", "CANCELED", "SUSPENDED");
          return state.equals("FINISHED");
        });
  }

  /**
   * Stops the job with a savepoint.
   *
   * @param format {@code CANONICAL} or {@code NATIVE}
   * @return the savepoint's location
   */
  String stop(Path savepoints, String format) throws Exception {
    String request = cluster.rest().stop(id, savepoints, format);
    assertThat(request).as("the request for a savepoint").isNotEmpty();
    JsonNode[] savepoint = new JsonNode[1];
    Await.until(
        "the savepoint is complete",
        () -> {
          cluster.check();
          savepoint[0] = cluster.rest().savepoint(id, request);
          return savepoint[0].path("status").path("id").asText().equals("COMPLETED");
        });
    String location = savepoint[0].path("operation").path("location").asText("");
    assertThat(location).as("the savepoint: " + savepoint[0]).isNotEmpty();
    awaitEnd();
    return location;
  }

  /** Cancels the job; returns its newest checkpoint, which is retained. */
  String cancelAndRetain() throws Exception {
    cancel();
    JsonNode newest = cluster.rest().checkpoints(id).path("latest").path("completed");
    return newest.path("external_path").asText();
  }

  private void awaitEnd() throws Exception {
    Await.until(
        "the job has ended",
        () -> {
          cluster.check();
          return ClusterRest.ENDED.contains(cluster.rest().jobState(id));
        });
  }

  /** Cancels the job if it still runs, and waits until it has ended. */
  void cancel() throws Exception {
    Await.until(
        "the job has ended",
        () -> {
          cluster.check();
          cluster.rest().cancel(id);
          return ClusterRest.ENDED.contains(cluster.rest().jobState(id));
        });
  }

  /** Checks that no number was lost and none was counted twice. */
  void checkResults() throws IOException {
    checkResults(1);
  }

  /** Like {@link #checkResults()}, for a job that counts each number {@code times} times. */
  void checkResults(int times) throws IOException {
    Set<String> expected = new TreeSet<>();
    for (long key = 0; key < plan.keys(); key++) {
      expected.add(plan.fact(key, times));
    }
    assertThat(facts(Path.of(plan.results()))).isEqualTo(expected);
  }

  /**
   * The distinct lines that tasks have written to a directory. Restarted tasks write lines twice.
   */
  static Set<String> facts(Path results) throws IOException {
    Set<String> reported = new TreeSet<>();
    try (Stream<Path> files = Files.list(results)) {
      for (Path file : files.toList()) {
        reported.addAll(Files.readAllLines(file));
      }
    }
    return reported;
  }

  /** Waits for a condition while the job runs; fails if the job ends meanwhile. */
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
