package io.fasterkv.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests Flink's checkpointing modes. In each mode a job counts, a TaskManager is killed, and a
 * second job continues at another parallelism from the last checkpoint of the first. Its counts
 * must be exact.
 */
@ExtendWith(SharedCluster.class)
@EnabledIfSystemProperty(named = "faster.processes", matches = "true")
class CheckpointModesIT {
  private static final long NUMBERS = 200_000L * Integer.getInteger("cluster.rounds", 1);
  private static final int KEYS = 5_000;
  private static final CountingSize SIZE = new CountingSize(NUMBERS, KEYS, 300, 0, 2);
  private static final CountingSize WIDER = new CountingSize(NUMBERS, KEYS, 300, 0, 3);

  /** A task processes at most 500 numbers a second, and its reader emits many more. */
  private static final CountingSize SLOW = new CountingSize(NUMBERS, KEYS, 20_000, 2_000, 2);

  private static final CountingSize WIDER_SLOW = new CountingSize(NUMBERS, KEYS, 20_000, 2_000, 3);

  private StandaloneCluster cluster;
  private Path directory;
  private Path checkpoints;

  @BeforeEach
  void findCluster(StandaloneCluster shared, TestInfo test) {
    cluster = shared;
    directory = shared.directory().resolve(test.getTestMethod().orElseThrow().getName());
    checkpoints = shared.directory().resolve("checkpoints");
  }

  /** The tasks are so slow that most records are in flight and therefore in each checkpoint. */
  @Test
  void unalignedCheckpointsKeepRecordsOnTheirWay() throws Exception {
    Map<String, String> unaligned = Map.of("execution.checkpointing.unaligned.enabled", "true");
    RunningJob job = submit(SLOW, unaligned);
    awaitCheckpointWithRecords(job);
    job.killTaskManager();
    awaitCheckpointWithRecords(job);
    String checkpoint = job.cancelAndRetain();

    RunningJob wider = submit(WIDER_SLOW, from(checkpoint, "CLAIM", unaligned));
    awaitCheckpointWithRecords(wider);
    wider.killTaskManager();
    wider.finish();
    wider.checkResults();
  }

  private void awaitCheckpointWithRecords(RunningJob job) throws Exception {
    job.awaitRunning();
    long before = cluster.rest().completed(job.id());
    job.await(
        "a checkpoint after " + before + " contains in-flight records",
        () -> {
          JsonNode newest = cluster.rest().checkpoints(job.id()).path("latest").path("completed");
          return newest.path("id").asLong() > before && newest.path("persisted_data").asLong() > 0;
        });
  }

  @Test
  void mergedFilesRestore() throws Exception {
    Map<String, String> merging =
        Map.of(
            "execution.checkpointing.file-merging.enabled", "true",
            "execution.checkpointing.file-merging.across-checkpoint-boundary", "true");
    restoreTwice(
        merging, job -> hasDirectories(checkpoints.resolve(job.id().toString()).resolve("shared")));
  }

  /** Whether {@code directory} contains directories of tasks, in which Flink merges files. */
  private static boolean hasDirectories(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.anyMatch(Files::isDirectory);
    }
  }

  @Test
  void changelogRestores() throws Exception {
    Map<String, String> changelog =
        Map.of(
            "state.changelog.enabled", "true",
            "state.changelog.periodic-materialize.interval", "1 s");
    restoreTwice(
        changelog,
        job -> Files.exists(cluster.directory().resolve("changelog").resolve(job.id().toString())));
  }

  @Test
  void jobDoesNotNeedWhatItDidNotClaim() throws Exception {
    RunningJob job = submit(SIZE, Map.of());
    job.awaitRunning();
    job.awaitAnotherCheckpoint();
    job.awaitAnotherCheckpoint();
    String checkpoint = job.cancelAndRetain();

    RunningJob next = submit(WIDER, from(checkpoint, "NO_CLAIM", Map.of()));
    next.awaitRunning();
    next.awaitAnotherCheckpoint();
    next.awaitAnotherCheckpoint();
    assertThat(path(checkpoint).resolve("_metadata")).exists();
    FileUtils.deleteDirectory(checkpoints.resolve(job.id().toString()).toFile());
    next.killTaskManager();
    next.awaitAnotherCheckpoint();
    String own = next.cancelAndRetain();

    RunningJob last = submit(SIZE, from(own, "NO_CLAIM", Map.of()));
    last.awaitRunning();
    last.finish();
    last.checkResults();
  }

  @Test
  void jobDeletesWhatItClaimed() throws Exception {
    RunningJob job = submit(SIZE, Map.of());
    job.awaitRunning();
    job.awaitAnotherCheckpoint();
    job.awaitAnotherCheckpoint();
    String savepoint = job.stop(cluster.directory().resolve("savepoints"), "NATIVE");

    RunningJob next = submit(WIDER, from(savepoint, "CLAIM", Map.of()));
    awaitDeleted(next, savepoint);
    next.killTaskManager();
    next.awaitAnotherCheckpoint();
    String checkpoint = next.cancelAndRetain();

    RunningJob last = submit(SIZE, from(checkpoint, "CLAIM", Map.of()));
    awaitDeleted(last, checkpoint);
    last.killTaskManager();
    last.finish();
    last.checkResults();
  }

  private void awaitDeleted(RunningJob job, String checkpoint) throws Exception {
    job.awaitRunning();
    job.await(
        checkpoint + " was claimed and is deleted",
        () -> !Files.exists(path(checkpoint).resolve("_metadata")));
  }

  /** Evidence on disk that a mode is in use. */
  private interface Trace {
    boolean isLeftBy(RunningJob job) throws Exception;
  }

  /**
   * Restores once after a TaskManager was killed, and once as another job with another parallelism.
   */
  private void restoreTwice(Map<String, String> mode, Trace trace) throws Exception {
    RunningJob job = submit(SIZE, mode);
    job.awaitRunning();
    job.awaitAnotherCheckpoint();
    job.await("the mode is visible on disk", () -> trace.isLeftBy(job));
    job.killTaskManager();
    job.awaitAnotherCheckpoint();
    job.awaitAnotherCheckpoint();
    String checkpoint = job.cancelAndRetain();

    RunningJob wider = submit(WIDER, from(checkpoint, "CLAIM", mode));
    wider.awaitRunning();
    wider.awaitAnotherCheckpoint();
    wider.killTaskManager();
    wider.awaitAnotherCheckpoint();
    wider.finish();
    wider.checkResults();
  }

  private RunningJob submit(CountingSize size, Map<String, String> settings) throws Exception {
    return RunningJob.submit(cluster, size, directory, checkpoints, settings);
  }

  private static Map<String, String> from(
      String checkpoint, String mode, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("execution.state-recovery.path", checkpoint);
    all.put("execution.state-recovery.claim-mode", mode);
    return all;
  }

  private static Path path(String uri) {
    return Path.of(URI.create(uri));
  }
}
