package io.fasterkv.bench.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.job.Digest;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobRun;
import io.fasterkv.bench.job.StateBackend;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StreamJobTest {
  private static final int EVENTS = 3_000;

  /** Each of eight operators that share a slot leases half of what is left. */
  private static final long MEMORY_BYTES = 512 << 20;

  @TempDir Path directory;

  private Digest run(
      StreamJob job, StateBackend backend, int parallelism, List<Double> failures, boolean isWrong)
      throws Exception {
    JobPlan plan =
        new JobPlan(
            job,
            backend,
            new JobPlan.Input(EVENTS, 1, 50),
            new JobPlan.Cluster(parallelism, MEMORY_BYTES, false),
            new JobPlan.Pace(0, 0.3),
            failures,
            50,
            isWrong);
    Path ofRun = Files.createTempDirectory(directory, "run");
    return JobRun.run(plan, ofRun, events -> {}).digest();
  }

  @ParameterizedTest
  @EnumSource(names = {"TUMBLING_WINDOWS", "CHAIN"})
  @Tag("long")
  void resultsDependOnNeitherBackendNorParallelismNorFailures(StreamJob job) throws Exception {
    assertSameResults(job);
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"TUMBLING_WINDOWS", "CHAIN"})
  @Tag("long")
  void resultsOfTheOtherJobsAreTheSameToo(StreamJob job) throws Exception {
    assertSameResults(job);
  }

  private void assertSameResults(StreamJob job) throws Exception {
    Digest expected = run(job, StateBackend.HASHMAP, 1, List.of(), false);
    assertThat(expected.rows()).isPositive();
    Digest found = run(job, StateBackend.FASTER, 2, List.of(0.6), false);
    assertThat(found.isSameResult(expected)).as("%s and %s", found, expected).isTrue();
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(names = {"TUMBLING_WINDOWS", "CHAIN"})
  void aBackendThatLosesWritesHasAnotherResult(StreamJob job) throws Exception {
    Digest expected = run(job, StateBackend.HASHMAP, 1, List.of(), false);
    Digest wrong = run(job, StateBackend.FASTER, 1, List.of(), true);
    assertThat(wrong.isSameResult(expected)).isFalse();
  }
}
