package io.fasterkv.bench.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.Digest;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobResult;
import io.fasterkv.bench.job.JobSuite;
import io.fasterkv.bench.job.StateBackend;
import io.fasterkv.bench.nexmark.NexmarkSuite;
import io.fasterkv.bench.profile.HotFrames;
import io.fasterkv.bench.report.Goal;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RunReportTest {
  private static final JobSuite SUITE = new NexmarkSuite();

  private static Figures.Row row(int round, String query, StateBackend backend, double speed) {
    return row(round, query, backend, speed, null);
  }

  private static Figures.Row row(
      int round,
      String query,
      StateBackend backend,
      double speed,
      JobResult.@Nullable Checkpoints checkpoints) {
    BenchJob job = SUITE.named(query).orElseThrow();
    JobPlan plan =
        new JobPlan(
            job,
            backend,
            new JobPlan.Input(1_000_000, 1, 1),
            new JobPlan.Cluster(2, 0, false),
            new JobPlan.Pace(0, 0.3),
            List.of(),
            1000,
            false);
    HotFrames profile =
        backend == StateBackend.FASTER
            ? new HotFrames(100, List.of(new HotFrames.Frame("Store.read", 0.123, 0.04)))
            : null;
    JobResult result =
        new JobResult(
            new Digest(5, 0, 255),
            10,
            speed,
            List.of(new JobResult.Moment(1, speed)),
            2.0,
            null,
            List.of(),
            8,
            100_000_000,
            new JobResult.Latency(1, 2, 3, 4, 5),
            checkpoints,
            profile);
    return new Figures.Row(round, plan, result);
  }

  private static final List<Figures.Row> ROWS =
      List.of(
          row(1, "q4", StateBackend.FASTER, 300_000),
          row(1, "q4", StateBackend.ROCKSDB, 100_000),
          row(1, "q5", StateBackend.FASTER, 300_000),
          row(1, "q5", StateBackend.ROCKSDB, 100_000),
          row(2, "q5", StateBackend.FASTER, 100_000),
          row(2, "q5", StateBackend.ROCKSDB, 400_000));

  @Test
  void ratiosAreThoseOfARoundAndGoalsAreMeansOverJobs() {
    List<Goal> goals = RunGoals.of(new Figures(ROWS));
    assertThat(goals.stream().map(Goal::name))
        .containsExactly(
            "throughput, against rocksdb",
            "lowest throughput of a job, against rocksdb",
            "time to the first 100,000 events, against rocksdb",
            "p99.9 of the latency, against rocksdb");
    // q4 has 3, q5 the median of 3 and 0.25.
    assertThat(goals.getFirst().measured().median()).isEqualTo(Math.sqrt(3 * 1.625), offset(1e-9));
    assertThat(goals.get(1).measured().median()).isEqualTo(1.625);
    assertThat(goals.get(2).isMet()).isFalse();
  }

  private static Figures.Row checkpointed(StateBackend backend, List<Long> syncMillis) {
    return row(
        1,
        "q4",
        backend,
        100_000,
        new JobResult.Checkpoints(20, 30, syncMillis, 1_000_000_000, 2_000_000, 3_000_000, 100));
  }

  @Test
  void synchronousPhasesOfAllRunsAreOneDistribution() {
    List<Long> millis = LongStream.rangeClosed(1, 99).boxed().toList();
    List<Goal> goals =
        RunGoals.of(
            new Figures(
                List.of(
                    checkpointed(StateBackend.FASTER, millis),
                    checkpointed(StateBackend.FASTER, List.of(500L)),
                    checkpointed(StateBackend.ROCKSDB, List.of(33L)))));
    assertThat(goals)
        .filteredOn(goal -> goal.name().startsWith("p99 of the synchronous phase"))
        .map(goal -> goal.measured().median())
        .containsExactly(99.0, 3.0);
  }

  @Test
  void linesFitIntoAPage() {
    RunReport report =
        new RunReport(SUITE, List.of(checkpointed(StateBackend.ROCKSDB, List.of(10_000L))));
    assertThat(report.text().lines()).allMatch(line -> line.length() <= 120);
  }

  @Test
  void theTextHasAllTables() {
    RunReport report = new RunReport(SUITE, ROWS);
    assertThat(report.text())
        .contains(RunReport.MEDIANS, RunReport.MEANS, RunReport.GOALS, RunReport.FRAMES)
        .containsPattern("q4 +faster +Store.read +12.3% +4.0%");
    assertThat(new RunReport(SUITE, List.of()).text()).isEmpty();
  }

  @Test
  void thePageHasTablesAndPlots() {
    RunReport report = new RunReport(SUITE, ROWS);
    String page = new RunPage(SUITE, report, new Figures(ROWS)).page().toString();
    assertThat(page).contains("Store.read", RunReport.GOALS, "<polyline", "q4, faster: 300");
  }
}
