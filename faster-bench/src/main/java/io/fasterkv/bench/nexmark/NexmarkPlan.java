package io.fasterkv.bench.nexmark;

import io.fasterkv.bench.nexmark.job.JobPlan;
import io.fasterkv.bench.nexmark.job.Query;
import io.fasterkv.bench.nexmark.job.StateBackend;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All runs of the benchmark.
 *
 * @param base what the runs have in common
 */
record NexmarkPlan(
    List<Query> queries,
    List<StateBackend> backends,
    int rounds,
    MemoryChoice memory,
    JobPlan base,
    Mode mode) {

  /**
   * How runs are made.
   *
   * @param isQuick whether a backend's runs share a process
   * @param wrong the backend whose results are falsified, for a test of the comparison, or null
   */
  record Mode(boolean isQuick, @Nullable StateBackend wrong) {}

  /** Runs that share a process. */
  record Batch(StateBackend backend, List<Query> queries) {}

  /** The processes of a round, in order; another backend is the first one each time. */
  List<Batch> batches(int round) {
    List<Batch> batches = new ArrayList<>();
    if (mode.isQuick) {
      inTurn(round).forEach(backend -> batches.add(new Batch(backend, queries)));
      return batches;
    }
    int turn = round;
    for (Query query : queries) {
      inTurn(turn++).forEach(backend -> batches.add(new Batch(backend, List.of(query))));
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
    return rounds * queries.size() * backends.size();
  }

  /** A run with this much memory. */
  JobPlan job(Query query, StateBackend backend, long memoryBytes) {
    return new JobPlan(
        query,
        backend,
        base.input(),
        base.parallelism(),
        memoryBytes,
        base.pace(),
        base.failures(),
        base.checkpointMillis(),
        backend == mode.wrong);
  }

  /** A run that shows how much state a query has; it is not reported. */
  JobPlan sizing(Query query, long memoryBytes) {
    return new JobPlan(
        query,
        backends.contains(StateBackend.ROCKSDB) ? StateBackend.ROCKSDB : backends.getFirst(),
        base.input(),
        base.parallelism(),
        memoryBytes,
        new JobPlan.Pace(0, base.pace().warmUp()),
        List.of(),
        base.checkpointMillis(),
        false);
  }
}
