package io.fasterkv.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.event.Level;

/**
 * Tests jobs on a cluster with local recovery that fail and restart from their slots' local copies.
 */
class LocalRecoveryJobTest {
  @TempDir private static Path local;

  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(() -> LocalClusters.configuration(local));

  @RegisterExtension
  private final LoggerAuditingExtension restores =
      new LoggerAuditingExtension("io.fasterkv.flink", Level.INFO);

  @TempDir private Path directory;

  private List<String> logged(String what) {
    return restores.getMessages().stream().filter(line -> line.contains("): " + what)).toList();
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(names = {"FULL", "INCREMENTAL", "FILE_MERGING"})
  void sumsAreExactAndNothingIsReadFromElsewhere(JobSettings settings) throws Exception {
    FailingJob.check(
        settings.config(directory),
        KeyedSums.expected(FailingJob.NUMBERS),
        env -> FailingJob.numbers(env, "numbers").keyBy(KeyedSums::key).process(new KeyedSums()));
    List<String> restored = logged("restored ");
    assertThat(restored)
        .hasSizeGreaterThanOrEqualTo(FailingJob.PARALLELISM)
        .allMatch(line -> line.contains(local.toString()));
    assertThat(logged("reused the local copy of a checkpoint's log: "))
        .hasSize(settings != JobSettings.FULL ? restored.size() : 0);
  }
}
