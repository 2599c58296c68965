package io.fasterkv.bench.runs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobResult;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Runs that are not reported. Where an argument is a share, they show of how much: of a job's
 * state, or of its highest throughput.
 */
final class Trials {
  private static final long MEMORY_BYTES = 512L << 20;

  private final RunPlan plan;
  private final Trial trial;
  private final Map<BenchJob, Long> memoryBytes = new HashMap<>();
  private final Map<BenchJob, Long> rates = new HashMap<>();

  /** Makes a run. */
  interface Trial {
    JobResult of(String question, JobPlan plan) throws IOException;
  }

  Trials(RunPlan plan, Trial trial) {
    this.plan = plan;
    this.trial = trial;
  }

  /** The managed memory of a job's runs. */
  long memoryBytes(BenchJob job) throws IOException {
    Long known = memoryBytes.get(job);
    if (known == null) {
      known = plan.memory().bytesFor(plan.memory().isShare() ? stateBytes(job) : 0);
      memoryBytes.put(job, known);
    }
    return known;
  }

  private long stateBytes(BenchJob job) throws IOException {
    JobResult result = trial.of("how large is its state?", plan.trial(job, MEMORY_BYTES));
    JobResult.Checkpoints checkpoints = result.checkpoints();
    return checkpoints == null ? 0 : checkpoints.largestFullBytes();
  }

  /** The rate of a job's runs, in events a second; 0 for as fast as it can. */
  long eventsPerSecond(BenchJob job) throws IOException {
    Long known = rates.get(job);
    if (known == null) {
      known = plan.rate().rateFor(plan.rate().isShare() ? highestRate(job) : 0);
      rates.put(job, known);
    }
    return known;
  }

  /** At steady state, or in the whole of a run that is too short for one. */
  private double highestRate(BenchJob job) throws IOException {
    JobPlan fast = plan.trial(job, memoryBytes(job));
    JobResult result = trial.of("how fast is it?", fast);
    return result.eventsPerSecond() > 0
        ? result.eventsPerSecond()
        : fast.input().events() / result.seconds();
  }
}
