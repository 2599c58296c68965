package io.fasterkv.bench.runs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.Digest;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobResult;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.workload.WrongAnswer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** Makes all runs of a plan, round after round, and compares their results. */
final class Runs {
  private final RunPlan plan;
  private final WorkDirectory work;
  private final Progress progress;
  private final RunProcess process;
  private final Trials trials;
  private final Map<BenchJob, Figures.Row> expected = new HashMap<>();
  private final List<Figures.Row> rows = new CopyOnWriteArrayList<>();

  Runs(RunPlan plan, WorkDirectory work, Progress progress) {
    this.plan = plan;
    this.work = work;
    this.progress = progress;
    process = new RunProcess(plan.suite(), plan.mode());
    trials = new Trials(plan, this::trial);
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
   * @throws WrongAnswer if two runs of a job have different results
   */
  void run(Listener listener) throws IOException {
    for (int round = 1; round <= plan.mode().rounds(); round++) {
      for (RunPlan.Batch batch : plan.batches(round - 1)) {
        run(round, batch, listener);
      }
    }
  }

  private void run(int round, RunPlan.Batch batch, Listener listener) throws IOException {
    List<JobPlan> plans = new ArrayList<>();
    for (BenchJob job : batch.jobs()) {
      long memoryBytes = trials.memoryBytes(job);
      plans.add(plan.run(job, batch.backend(), memoryBytes, trials.eventsPerSecond(job)));
    }
    inDirectory(
        plans,
        new RunProcess.Listener() {
          private int results;

          @Override
          public void events(long events) {
            JobPlan now = plans.get(Math.min(results, plans.size() - 1));
            progress.begin(now.job() + " " + now.backend() + ": " + events + " events");
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

  private JobResult trial(String question, JobPlan of) throws IOException {
    progress.begin(of.job() + ": " + question);
    List<JobResult> results = new ArrayList<>();
    inDirectory(
        List.of(of),
        new RunProcess.Listener() {
          @Override
          public void events(long events) {}

          @Override
          public void result(JobPlan plan, JobResult result) {
            results.add(result);
          }
        });
    return results.getFirst();
  }

  private void compare(Figures.Row row) {
    BenchJob job = row.plan().job();
    Figures.Row first = expected.putIfAbsent(job, row);
    if (first == null || !job.isRepeatable()) {
      return;
    }
    if (!first.result().digest().isSameResult(row.result().digest())) {
      throw new WrongAnswer(
          "two runs of a job have different results: job="
              + job
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
