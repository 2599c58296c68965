package io.fasterkv.bench.runs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobSuite;
import io.fasterkv.bench.job.StateBackend;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All runs of the benchmark.
 *
 * @param base what the runs have in common; its memory and its rate are none
 */
record RunPlan(
    JobSuite suite,
    List<BenchJob> jobs,
    List<StateBackend> backends,
    MemoryChoice memory,
    RateChoice rate,
    JobPlan base,
    Mode mode) {

  /**
   * How runs are made.
   *
   * @param isQuick whether a backend's runs share a process
   * @param rounds how often all runs are made
   * @param profiles the directory for recordings, or null for none
   * @param wrong the backend that loses writes, for a test of the comparison, or null
   */
  record Mode(boolean isQuick, int rounds, @Nullable StateBackend wrong, @Nullable Path profiles) {}

  /** Runs that share a process. */
  record Batch(StateBackend backend, List<BenchJob> jobs) {}

  /** The processes of a round, in order; another backend is the first one each time. */
  List<Batch> batches(int round) {
    List<Batch> batches = new ArrayList<>();
    if (mode.isQuick) {
      inTurn(round).forEach(backend -> batches.add(new Batch(backend, jobs)));
      return batches;
    }
    int turn = round;
    for (BenchJob job : jobs) {
      inTurn(turn++).forEach(backend -> batches.add(new Batch(backend, List.of(job))));
    }
    return batches;
  }

  private List<StateBackend> inTurn(int turn) {
    List<StateBackend> turned = new ArrayList<>(backends);
    Collections.rotate(turned, -turn);
    return turned;
  }

  /** How many runs there are. */
  int runs() {
    return mode.rounds * jobs.size() * backends.size();
  }

  /** A run with this much memory, and this many events a second, 0 for as fast as possible. */
  JobPlan run(BenchJob job, StateBackend backend, long memoryBytes, long eventsPerSecond) {
    return new JobPlan(
        job,
        backend,
        base.input(),
        cluster(memoryBytes),
        new JobPlan.Pace(eventsPerSecond, base.pace().warmUp()),
        base.failures(),
        base.checkpointMillis(),
        backend == mode.wrong);
  }

  private JobPlan.Cluster cluster(long memoryBytes) {
    return new JobPlan.Cluster(base.parallelism(), memoryBytes, base.cluster().isSeparate());
  }

  /** A run without failures on rocksdb, as fast as possible. */
  JobPlan trial(BenchJob job, long memoryBytes) {
    return new JobPlan(
        job,
        StateBackend.ROCKSDB,
        base.input(),
        cluster(memoryBytes),
        new JobPlan.Pace(0, base.pace().warmUp()),
        List.of(),
        base.checkpointMillis(),
        false);
  }
}
