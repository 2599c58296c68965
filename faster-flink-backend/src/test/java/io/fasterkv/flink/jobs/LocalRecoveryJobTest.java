package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.event.Level;

/** Jobs on a cluster with local recovery, which fail and come back from what their slots have. */
class LocalRecoveryJobTest {
  @TempDir private static Path local;

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(() ->
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(
                  new Configuration()
                      .set(StateRecoveryOptions.LOCAL_RECOVERY, true)
                      .set(
                          CheckpointingOptions.LOCAL_RECOVERY_TASK_MANAGER_STATE_ROOT_DIRS,
                          local.toString()))
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @RegisterExtension
  private final LoggerAuditingExtension restores =
      new LoggerAuditingExtension("io.fasterkv.flink.restore", Level.INFO);

  @TempDir private Path directory;

  private List<String> told(String what) {
    return restores.getMessages().stream().filter(line -> line.startsWith(what)).toList();
  }

  @ParameterizedTest
  @EnumSource(names = {"FULL", "INCREMENTAL", "FILE_MERGING"})
  void sumsAreExactAndNothingIsReadFromElsewhere(JobSettings settings) throws Exception {
    FailingJob.check(
        settings.config(directory),
        KeyedSums.expected(FailingJob.NUMBERS),
        env -> FailingJob.numbers(env, "numbers").keyBy(KeyedSums::key).process(new KeyedSums()));
    List<String> restored = told("restored ");
    assertThat(restored)
        .hasSizeGreaterThanOrEqualTo(FailingJob.PARALLELISM)
        .allMatch(line -> line.contains(local.toString()));
    assertThat(told("took over the log of a checkpoint that is on this machine: "))
        .hasSize(settings != JobSettings.FULL ? restored.size() : 0);
  }
}
