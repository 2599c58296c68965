package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests jobs that start from snapshots of other jobs, with and without a claim. Each key's state is
 * checked all the time, also after a failure and when a third job takes over.
 */
@Tag("long")
class ClaimModeTest {
  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(3)
              .build());

  @TempDir private Path directory;

  private Configuration config(JobSettings settings) {
    Configuration config = settings.config(directory);
    // Only the test takes checkpoints, and the job fails only when the test requests it.
    config.setString("execution.checkpointing.interval", "1 h");
    config.setString("restart-strategy.fixed-delay.attempts", "1");
    // Flink does not report files that it refuses to register; the checkpoint just never completes.
    config.setString("execution.checkpointing.timeout", "60 s");
    return config;
  }

  private static Configuration from(String path, RecoveryClaimMode mode, Configuration config) {
    Configuration next = new Configuration(config);
    next.set(StateRecoveryOptions.SAVEPOINT_PATH, path);
    next.set(StateRecoveryOptions.RESTORE_MODE, mode);
    return next;
  }

  private static Path local(String path) {
    return Path.of(URI.create(path));
  }

  @ParameterizedTest
  @EnumSource(JobSettings.class)
  void aCheckpointThatIsClaimedGoesAndLaterOnesStay(
      JobSettings settings, @InjectMiniCluster MiniCluster cluster) throws Exception {
    Configuration config = config(settings);
    CheckedJob job = CheckedJob.startFirst(cluster, config, 2);
    String claimed = job.checkpoint();
    job.cancel();
    assertThat(local(claimed)).isNotEmptyDirectory();
    continueWithoutWhatWasClaimed(cluster, config, claimed);
  }

  @ParameterizedTest
  @EnumSource(JobSettings.class)
  void aNativeSavepointThatIsClaimedGoesAndLaterCheckpointsStay(
      JobSettings settings, @InjectMiniCluster MiniCluster cluster) throws Exception {
    Configuration config = config(settings);
    String claimed =
        CheckedJob.startFirst(cluster, config, 2)
            .stop(directory.resolve("savepoints"), SavepointFormatType.NATIVE);
    assertThat(local(claimed)).isNotEmptyDirectory();
    continueWithoutWhatWasClaimed(cluster, config, claimed);
  }

  private static void continueWithoutWhatWasClaimed(
      MiniCluster cluster, Configuration config, String claimed) throws Exception {
    CheckedJob job = CheckedJob.start(cluster, from(claimed, RecoveryClaimMode.CLAIM, config), 2);
    job.checkpoint();
    job.checkpoint();
    job.checkpoint();
    awaitDeleted(local(claimed));
    job.fail();
    String last = job.checkpoint();
    job.cancel();
    CheckedJob.start(cluster, from(last, RecoveryClaimMode.CLAIM, config), 3).end();
  }

  /** A separate thread of Flink deletes files that no checkpoint needs any more. */
  private static void awaitDeleted(Path claimed) throws InterruptedException {
    while (Files.exists(claimed)) {
      Thread.sleep(20);
    }
  }

  /**
   * Excludes Flink's changelog: over any backend, it uses the other job's files until it has
   * materialized the state again.
   */
  @ParameterizedTest
  @EnumSource(names = {"FULL", "INCREMENTAL", "FILE_MERGING"})
  void ofACheckpointThatIsNotClaimedNothingIsNeededAfterTheFirst(
      JobSettings settings, @InjectMiniCluster MiniCluster cluster) throws Exception {
    Configuration config = config(settings);
    CheckedJob job = CheckedJob.startFirst(cluster, config, 2);
    String others = job.checkpoint();
    job.cancel();

    job = CheckedJob.start(cluster, from(others, RecoveryClaimMode.NO_CLAIM, config), 2);
    job.checkpoint();
    assertThat(local(others)).isNotEmptyDirectory();
    assertThat(hasDirectories(local(others).resolveSibling("shared")))
        .as("Flink merges files in directories of tasks")
        .isEqualTo(settings == JobSettings.FILE_MERGING);
    FileUtils.deleteDirectory(local(others).getParent().toFile());
    job.fail();
    String last = job.checkpoint();
    job.cancel();
    CheckedJob.start(cluster, from(last, RecoveryClaimMode.NO_CLAIM, config), 3).end();
  }

  private static boolean hasDirectories(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.anyMatch(Files::isDirectory);
    }
  }
}
