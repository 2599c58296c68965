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
 * Tests the one jar in Flink's class path, on a cluster of a JobManager, two TaskManagers and
 * ZooKeeper, each in a separate process. {@code -Dcluster.rounds=10} runs everything ten times, in
 * jobs that are ten times as long.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EnabledIfSystemProperty(named = "faster.processes", matches = "true")
class StandaloneClusterIT {
  private static final int TASK_MANAGERS = 2;
  private static final int KILLS_IN_A_CHECKPOINT = 2;
  private static final int ROUNDS = Integer.getInteger("cluster.rounds", 1);

  /** A checkpoint fails every half second, and REST data about a job is about that old. */
  private static final int FAILURES = 5;

  private static final CountingSize SIZE =
      new CountingSize(600_000L * ROUNDS, 20_000, 300, 0, TASK_MANAGERS);

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
      // Room for two segments of 64 MiB, which are deleted as a whole, for each store, and for the
      // store of a dead process.
      localDisk = TightDisk.mount(local, 384);
      checkpointDisk = TightDisk.mount(checkpoints, 192);
    } catch (IOException notAllowed) {
      noDisks = "cannot mount a small file system: " + notAllowed.getMessage();
    }
    cluster = new StandaloneCluster(directory, TASK_MANAGERS, settings());
    Await.until(
        "both TaskManagers have registered",
        () -> {
          cluster.check();
          return cluster.rest().taskManagers() == TASK_MANAGERS;
        });
  }

  /** Deletes the files of an earlier run, and unmounts what may still be mounted below. */
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
    // After a failover Flink 2.3 may wait in vain; see docs/FLINK.md, Troubleshooting.
    settings.put("execution.checkpointing.timeout", "60 s");
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
          assertThat(cluster.logged("deleted the directory of an ended process")).isPositive();
        });
  }

  /** Repeats until the kill makes the checkpoint that is being written fail. */
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
  void jobContinuesAfterTheCheckpointDiskWasFull() throws Exception {
    assumeThat(noDisks).isEmpty();
    job(
        "checkpoint-disk",
        job -> {
          for (int round = 0; round < ROUNDS; round++) {
            long before = cluster.logged("No space left on device");
            awaitFailures(job, checkpointDisk, FAILURES);
            assertThat(cluster.logged("No space left on device")).isGreaterThan(before);
            // The number may be outdated, but it is from after the disk was full.
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

  /** Data that cannot be written stays in memory: checkpoints fail, and tasks wait. */
  @Test
  void jobContinuesAfterTheLocalDiskWasFull() throws Exception {
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

  /** Keeps a disk full until {@code count} checkpoints have failed. */
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

  /** Faults that are injected into a job between its submission and its end. */
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
