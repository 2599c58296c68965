package io.fasterkv.demo;

import io.fasterkv.bench.report.Sizes;
import io.fasterkv.demo.job.RunControl;
import io.fasterkv.demo.job.WordJob;
import io.fasterkv.demo.screen.CheckpointRow;
import io.fasterkv.demo.screen.Screen;
import io.fasterkv.demo.screen.Speedometer;
import io.fasterkv.demo.screen.Tick;
import io.fasterkv.demo.text.InputPlan;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/**
 * Runs the job through its steps: a failure half way, a stop with a savepoint at three quarters,
 * the rest at another parallelism. Runs in one thread; another thread may call {@link #abort()}.
 */
final class Story {
  private static final long LOOK_MILLIS = 100;
  private static final int SAVEPOINT_ATTEMPTS = 5;

  private final DemoOptions options;
  private final InputPlan plan;
  private final Path run;
  private final RunControl control;
  private final Screen screen;
  private final String runId;
  private final CheckpointWatch checkpoints = new CheckpointWatch();
  private final Speedometer speedometer = new Speedometer();
  private int toldRestarts;
  private volatile @Nullable Stage current;
  private volatile boolean aborted;

  /**
   * @param run the run's directory; its name names the run
   */
  Story(DemoOptions options, InputPlan plan, Path run, RunControl control, Screen screen) {
    this.options = options;
    this.plan = plan;
    this.run = run;
    this.control = control;
    this.screen = screen;
    this.runId = String.valueOf(run.getFileName());
  }

  /** Runs all steps; returns when the input has ended and every word has emitted its state. */
  void tell() throws Exception {
    String savepoint;
    try (Stage stage = start(0, options.parallelism, null)) {
      awaitRecovery(stage);
      savepoint = stopAtThreeQuarters(stage);
    }
    control.gate().raise(Long.MAX_VALUE);
    try (Stage stage = start(1, options.resumeParallelism, savepoint)) {
      awaitResumption(stage);
      while (!stage.isDone()) {
        look(stage);
      }
      failIfFailed(stage);
      checkpoints.look(stage);
    }
    event("end of the input");
  }

  /** Returns every checkpoint of both jobs. */
  List<CheckpointRow> checkpoints() {
    return checkpoints.rows();
  }

  /** Ends the job and its cluster now. */
  void abort() throws Exception {
    aborted = true;
    Stage stage = current;
    if (stage != null) {
      stage.close();
    }
  }

  private Stage start(int number, int parallelism, @Nullable String savepoint) throws Exception {
    if (aborted) {
      throw new InterruptedException();
    }
    Configuration settings = ClusterSettings.of(options, run, parallelism);
    StreamGraph graph = WordJob.draw(settings, plan, runId, number);
    if (savepoint != null) {
      graph.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(savepoint, false));
    }
    Stage stage = Stage.start(settings, graph);
    current = stage;
    return stage;
  }

  private void awaitRecovery(Stage stage) throws Exception {
    long thrownNanos = 0;
    while (!control.failure().isRecovered() || !stage.isRunning()) {
      look(stage);
      failIfDone(stage);
      if (thrownNanos == 0 && control.failure().isThrown()) {
        thrownNanos = System.nanoTime();
        checkpoints.look(stage);
        event("a task was failed on purpose, checkpoint " + checkpoints.newest() + " is complete");
      }
    }
    checkpoints.look(stage);
    event(
        String.format(
            Locale.ROOT,
            "recovered from checkpoint %d in %.1f s",
            checkpoints.restored(),
            secondsSince(thrownNanos)));
  }

  private void awaitResumption(Stage stage) throws Exception {
    long start = System.nanoTime();
    while (!stage.isRunning() && !stage.isDone()) {
      look(stage);
    }
    event(
        String.format(
            Locale.ROOT,
            "resumed from the savepoint at parallelism %d in %.1f s",
            options.resumeParallelism,
            secondsSince(start)));
  }

  private String stopAtThreeQuarters(Stage stage) throws Exception {
    while (control.progress().words() < plan.words() * 3 / 4) {
      look(stage);
      failIfDone(stage);
    }
    String format = options.savepointFormat.name().toLowerCase(Locale.ROOT);
    event("stopping with a " + format + " savepoint");
    long start = System.nanoTime();
    String savepoint = stop(stage);
    while (!stage.isDone()) {
      look(stage);
    }
    checkpoints.look(stage);
    CheckpointRow row = checkpoints.savepoint();
    event(
        String.format(
            Locale.ROOT,
            "stopped in %.1f s, savepoint of %s",
            secondsSince(start),
            row == null ? "unknown size" : Sizes.bytes(row.bytes().state())));
    return savepoint;
  }

  /** Flink refuses a savepoint while a task is still restarting after the failure. */
  private String stop(Stage stage) throws Exception {
    for (int attempt = 1; ; attempt++) {
      CompletableFuture<String> savepoint =
          stage.stopWithSavepoint(ClusterSettings.url(run, "savepoints"), options.savepointFormat);
      while (!savepoint.isDone()) {
        look(stage);
      }
      try {
        return savepoint.get();
      } catch (ExecutionException e) {
        failIfDone(stage);
        if (attempt == SAVEPOINT_ATTEMPTS) {
          throw new JobFailedException("the savepoint failed", e);
        }
      }
    }
  }

  private void look(Stage stage) throws Exception {
    checkpoints.look(stage);
    control.gauges().look();
    tellUnplannedRestarts(stage);
    screen.update(
        new Tick(
            control.progress().words(),
            plan.words(),
            speedometer.at(System.nanoTime(), control.progress().reads()),
            checkpoints.stateBytes(),
            checkpoints.newest(),
            checkpoints.inFlight()));
    Thread.sleep(LOOK_MILLIS);
  }

  private void tellUnplannedRestarts(Stage stage) throws InterruptedException {
    int unplanned = control.failure().unplannedRestarts();
    if (unplanned > toldRestarts) {
      toldRestarts = unplanned;
      event("the job restarted, which was not planned: " + stage.lastFailure());
    }
  }

  private static double secondsSince(long startNanos) {
    return (System.nanoTime() - startNanos) / 1e9;
  }

  private void event(String text) {
    screen.event(
        String.format(
            Locale.ROOT, "%3d %%  * %s", 100 * control.progress().words() / plan.words(), text));
  }

  private static void failIfDone(Stage stage) throws Exception {
    if (stage.isDone()) {
      failIfFailed(stage);
      throw new JobFailedException("the job ended too early", null);
    }
  }

  private static void failIfFailed(Stage stage) throws Exception {
    Throwable failure = stage.failure().orElse(null);
    if (failure != null) {
      throw new JobFailedException("the job failed", failure);
    }
  }
}
