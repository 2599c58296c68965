package io.fasterkv.bench.runs;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.Digest;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobResult;
import io.fasterkv.bench.job.JobSuite;
import io.fasterkv.bench.job.StateBackend;
import io.fasterkv.bench.nexmark.NexmarkSuite;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TrialsTest {
  private static final JobSuite SUITE = new NexmarkSuite();
  private static final BenchJob JOB = SUITE.named("q4").orElseThrow();
  private static final List<StateBackend> BACKENDS =
      List.of(StateBackend.FASTER, StateBackend.HASHMAP);

  private final List<JobPlan> made = new ArrayList<>();

  private Trials trials(String memory, RateChoice rate) {
    JobPlan base =
        new JobPlan(
            JOB,
            StateBackend.FASTER,
            new JobPlan.Input(2_000, 1, 1),
            new JobPlan.Cluster(2, 0, false),
            new JobPlan.Pace(0, 0.3),
            List.of(0.5),
            1000,
            false);
    RunPlan plan =
        new RunPlan(
            SUITE,
            List.of(JOB),
            BACKENDS,
            MemoryChoice.of(memory),
            rate,
            base,
            new RunPlan.Mode(false, 1, null, null));
    return new Trials(
        plan,
        (question, of) -> {
          made.add(of);
          return result();
        });
  }

  /** Of a run that was too short for a steady state. */
  private static JobResult result() {
    return new JobResult(
        new Digest(0, 0, 0),
        4,
        0,
        List.of(),
        null,
        null,
        List.of(),
        0,
        0,
        null,
        new JobResult.Checkpoints(1, 1, List.of(1L), 0, 0, 1_000_000_000, 1),
        null);
  }

  @Test
  void sharesAreThoseOfATrialOnRocksdb() throws Exception {
    Trials trials = trials("10%", RateChoice.of("70%"));
    assertThat(trials.memoryBytes(JOB)).isEqualTo(100_000_000);
    assertThat(trials.eventsPerSecond(JOB)).isEqualTo(350);
    assertThat(trials.eventsPerSecond(JOB)).isEqualTo(350);
    assertThat(made).map(JobPlan::backend).containsOnly(StateBackend.ROCKSDB);
    assertThat(made)
        .map(of -> of.cluster().memoryBytes())
        .containsExactly(512L << 20, 100_000_000L);
    assertThat(made).allMatch(of -> of.failures().isEmpty());
  }

  @Test
  void numbersNeedNoTrial() throws Exception {
    assertThat(trials("64m", RateChoice.of("5k")).memoryBytes(JOB)).isEqualTo(64 << 20);
    assertThat(trials("64m", RateChoice.of("5k")).eventsPerSecond(JOB)).isEqualTo(5_000);
    assertThat(trials("64m", RateChoice.NONE).eventsPerSecond(JOB)).isZero();
    assertThat(made).isEmpty();
  }
}
