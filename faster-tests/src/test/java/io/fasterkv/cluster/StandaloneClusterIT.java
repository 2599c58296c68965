package io.fasterkv.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * One jar in Flink's class path, and a cluster of a JobManager, two TaskManagers and ZooKeeper,
 * each a process. {@code -Dcluster.rounds=10} does all of it ten times, in jobs of ten times the
 * length.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIfSystemProperty(named = "faster.processes", matches = "true")
class StandaloneClusterIT {
  private static final int TASK_MANAGERS = 2;
  private static final int KILLS_IN_A_CHECKPOINT = 2;
  private static final int ROUNDS = Integer.getInteger("cluster.rounds", 1);

  /** One comes every half a second, and what is known of a job is as old as that, about. */
  private static final int FAILURES = 5;

  private static final CountingSize SIZE =
      new CountingSize(600_000L * ROUNDS, 20_000, 300, TASK_MANAGERS);

  private final Path directory = Path.of(System.getProperty("faster.work", "target"), "cluster");
  private final Path local = directory.resolve("local");
  private final Path checkpoints = directory.resolve("checkpoints");
  private StandaloneCluster cluster;
  private TightDisk localDisk;
  private TightDisk checkpointDisk;
  private String noDisks = "";

  @BeforeAll
  void start() throws Exception {
    deleteRemains();
    try {
      // Two segments of 64 MiB for each store, which are given back as a whole, and one of those
      // that a dead process has left.
      localDisk = TightDisk.mount(local, 384);
      checkpointDisk = TightDisk.mount(checkpoints, 192);
    } catch (IOException notAllowed) {
      noDisks = "cannot mount a small file system: " + notAllowed.getMessage();
    }
    cluster = new StandaloneCluster(directory, TASK_MANAGERS, settings());
    Await.until(
        "both TaskManagers are there",
        () -> {
          cluster.check();
          return cluster.rest().taskManagers() == TASK_MANAGERS;
        });
  }

  /** Of an earlier run, with what may still be mounted below. */
  private void deleteRemains() throws Exception {
    TightDisk.unmount(local);
    TightDisk.unmount(checkpoints);
    FileUtils.deleteDirectory(directory.toFile());
  }

  private Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>();
    settings.put("state.backend.type", "io.fasterkv.flink.FasterStateBackendFactory");
    settings.put("state.backend.faster.local-dir", local.toString());
    settings.put("execution.checkpointing.dir", checkpoints.toUri().toString());
    settings.put("execution.checkpointing.interval", "500 ms");
    settings.put("execution.checkpointing.incremental", "true");
    settings.put("execution.checkpointing.tolerable-failed-checkpoints", "100000");
    settings.put("metrics.fetcher.update-interval", "500 ms");
    settings.put("restart-strategy.type", "fixed-delay");
    settings.put("restart-strategy.fixed-delay.attempts", "100000");
    settings.put("restart-strategy.fixed-delay.delay", "300 ms");
    return settings;
  }

  @AfterAll
  void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
    if (localDisk != null) {
      localDisk.close();
    }
    if (checkpointDisk != null) {
      checkpointDisk.close();
    }
  }

  @Test
  void countsAreExactAfterProcessesWereKilled() throws Exception {
    job(
        "kills",
        job -> {
          for (int round = 0; round < ROUNDS; round++) {
            for (int kill = 0; kill < KILLS_IN_A_CHECKPOINT; kill++) {
              killTaskManagerInACheckpoint(job);
            }
            cluster.replaceJobManager();
            job.awaitRunning();
            job.awaitAnotherCheckpoint();
          }
          assertThat(cluster.logged("removed what a dead process has left")).isPositive();
        });
  }

  /** Repeats until the checkpoint, which went on for a moment, was not complete before. */
  private void killTaskManagerInACheckpoint(RunningJob job) throws Exception {
    boolean wasUnderWay = false;
    while (!wasUnderWay) {
      job.awaitRunning();
      job.awaitAnotherCheckpoint();
      long checkpoint = job.awaitCheckpointUnderWay();
      cluster.replaceTaskManager();
      wasUnderWay = job.hasFailed(checkpoint);
    }
    job.awaitAnotherCheckpoint();
    job.awaitRunning();
  }

  @Test
  void jobGoesOnWhenTheCheckpointsDiskWasFull() throws Exception {
    assumeThat(noDisks).isEmpty();
    job(
        "checkpoint-disk",
        job -> {
          for (int round = 0; round < ROUNDS; round++) {
            long before = cluster.logged("No space left on device");
            awaitFailures(job, checkpointDisk, FAILURES);
            assertThat(cluster.logged("No space left on device")).isGreaterThan(before);
            // Known some time ago, but not before the disk was full.
            long read = cluster.rest().readRecords(job.id());
            job.await(
                "records flow while the disk is full",
                () -> {
                  checkpointDisk.fill();
                  return cluster.rest().readRecords(job.id()) > read;
                });
            checkpointDisk.free();
            job.awaitAnotherCheckpoint();
            assertThat(cluster.rest().failures(job.id())).isEmpty();
          }
        });
  }

  /** What cannot be written stays in memory: checkpoints fail, and tasks wait. */
  @Test
  void jobGoesOnWhenTheLocalDiskWasFull() throws Exception {
    assumeThat(noDisks).isEmpty();
    job(
        "local-disk",
        job -> {
          for (int round = 0; round < ROUNDS; round++) {
            awaitFailures(job, localDisk, 1);
            assertThat(cluster.logged("the disk is full: file=" + local)).isPositive();
            localDisk.free();
            job.awaitAnotherCheckpoint();
            assertThat(cluster.rest().failures(job.id())).isEmpty();
          }
        });
  }

  /** Keeps a disk full until so many checkpoints have failed. */
  private void awaitFailures(RunningJob job, TightDisk disk, int count) throws Exception {
    long wanted = failedCheckpoints(job) + count;
    job.await(
        "checkpoints fail",
        () -> {
          disk.fill();
          return failedCheckpoints(job) >= wanted;
        });
  }

  private long failedCheckpoints(RunningJob job) throws InterruptedException {
    return cluster.rest().checkpoints(job.id()).path("counts").path("failed").asLong();
  }

  /** What happens to a job between its submission and its end. */
  private interface Faults {
    void happenTo(RunningJob job) throws Exception;
  }

  private void job(String name, Faults faults) throws Exception {
    RunningJob job = RunningJob.submit(cluster, SIZE, directory.resolve(name), checkpoints);
    try {
      job.awaitRunning();
      job.awaitAnotherCheckpoint();
      faults.happenTo(job);
      job.finish();
      job.checkResults();
    } catch (Exception | AssertionError failure) {
      String logs = cluster.logs();
      job.cancel();
      throw new AssertionError(failure.getMessage() + "\n" + logs, failure);
    }
  }
}
