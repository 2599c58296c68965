package io.fasterkv.bench.nexmark;

import io.fasterkv.bench.nexmark.job.Digest;
import io.fasterkv.bench.nexmark.job.JobPlan;
import io.fasterkv.bench.nexmark.job.JobResult;
import io.fasterkv.bench.nexmark.job.Query;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.workload.WrongAnswer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** Makes all runs of a plan, round after round, and compares their results. */
final class NexmarkRun {
  private static final long SIZING_BYTES = 512L << 20;

  private final NexmarkPlan plan;
  private final WorkDirectory work;
  private final Progress progress;
  private final RunProcess process = new RunProcess();
  private final Map<Query, Long> stateBytes = new EnumMap<>(Query.class);
  private final Map<Query, Figures.Row> expected = new EnumMap<>(Query.class);
  private final List<Figures.Row> rows = new CopyOnWriteArrayList<>();

  NexmarkRun(NexmarkPlan plan, WorkDirectory work, Progress progress) {
    this.plan = plan;
    this.work = work;
    this.progress = progress;
  }

  /** Called after each run. */
  interface Listener {
    void ended() throws IOException;
  }

  /** The runs so far; for any thread. */
  List<Figures.Row> rows() {
    return rows;
  }

  /**
   * Makes the runs.
   *
   * @throws WrongAnswer if two runs of a query have different results
   */
  void run(Listener listener) throws IOException {
    for (int round = 1; round <= plan.rounds(); round++) {
      for (NexmarkPlan.Batch batch : plan.batches(round - 1)) {
        run(round, batch, listener);
      }
    }
  }

  private void run(int round, NexmarkPlan.Batch batch, Listener listener) throws IOException {
    for (Query query : batch.queries()) {
      size(query);
    }
    List<JobPlan> plans =
        batch.queries().stream()
            .map(query -> plan.job(query, batch.backend(), memoryOf(query)))
            .toList();
    inDirectory(
        plans,
        new RunProcess.Listener() {
          private int results;

          @Override
          public void events(long events) {
            JobPlan now = plans.get(Math.min(results, plans.size() - 1));
            progress.begin(now.query() + " " + now.backend() + ": " + events + " events");
          }

          @Override
          public void result(JobPlan of, JobResult result) throws IOException {
            results++;
            Figures.Row row = new Figures.Row(round, of, result);
            rows.add(row);
            progress.step();
            listener.ended();
            compare(row);
          }
        });
  }

  private void inDirectory(List<JobPlan> plans, RunProcess.Listener listener) throws IOException {
    Path directory = work.directory("process");
    try {
      process.run(plans, directory, listener);
    } finally {
      work.delete(directory);
    }
  }

  private long memoryOf(Query query) {
    return plan.memory().bytesFor(stateBytes.getOrDefault(query, 0L));
  }

  /** Finds out how much state a query has, where the memory depends on it. */
  private void size(Query query) throws IOException {
    if (!plan.memory().isShare() || stateBytes.containsKey(query)) {
      return;
    }
    progress.begin(query + ": how large is its state?");
    inDirectory(
        List.of(plan.sizing(query, SIZING_BYTES)),
        new RunProcess.Listener() {
          @Override
          public void events(long events) {}

          @Override
          public void result(JobPlan of, JobResult result) {
            JobResult.Checkpoints checkpoints = result.checkpoints();
            stateBytes.put(query, checkpoints == null ? 0 : checkpoints.largestFullBytes());
          }
        });
  }

  private void compare(Figures.Row row) {
    Query query = row.plan().query();
    Figures.Row first = expected.putIfAbsent(query, row);
    if (first == null || !query.isRepeatable()) {
      return;
    }
    if (!first.result().digest().isSameResult(row.result().digest())) {
      throw new WrongAnswer(
          "two runs of a query have different results: query="
              + query
              + ", "
              + describe(first)
              + ", "
              + describe(row));
    }
  }

  private static String describe(Figures.Row row) {
    Digest digest = row.result().digest();
    return row.plan().backend()
        + "="
        + digest.rows()
        + " rows of hash "
        + Long.toHexString(digest.sum())
        + " in round "
        + row.round();
  }

  /** Ends the current run; called by another thread. */
  void abort() {
    process.abort();
  }
}
