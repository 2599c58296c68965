package io.fasterkv.demo;

import io.fasterkv.bench.process.ProcessMemory;
import io.fasterkv.bench.report.Sizes;
import io.fasterkv.demo.check.Comparison;
import io.fasterkv.demo.check.TopWords;
import io.fasterkv.demo.check.Truth;
import io.fasterkv.demo.job.PlannedFailure;
import io.fasterkv.demo.job.RunControl;
import io.fasterkv.demo.job.StoreGauges;
import io.fasterkv.demo.job.WordJob;
import io.fasterkv.demo.screen.CheckpointTable;
import io.fasterkv.demo.screen.Screen;
import io.fasterkv.demo.text.InputPlan;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One run from the first word to the verdict. */
final class DemoRun {
  private static final int TOP_WORDS = 20;

  private final DemoOptions options;
  private final Path directory;
  private final PrintStream out;
  private volatile @Nullable Story story;

  /**
   * @param directory the run's own directory, with a name that no other run has
   */
  DemoRun(DemoOptions options, Path directory, PrintStream out) {
    this.options = options;
    this.directory = directory;
    this.out = out;
  }

  /**
   * Runs the job and checks it.
   *
   * @return whether every count is right
   */
  boolean run(Screen screen) throws Exception {
    long start = System.nanoTime();
    InputPlan plan = announce();
    try (RunControl control = new RunControl(String.valueOf(directory.getFileName()), plan)) {
      Story told = new Story(options, plan, directory, control, screen);
      story = told;
      try (screen) {
        told.tell();
      }
      section("Checkpoints");
      CheckpointTable.lines(told.checkpoints(), options.checkpointRows).forEach(out::println);
      section("Top words");
      TopWords.lines(control.results().byWord().values(), TOP_WORDS).forEach(out::println);
      out.println();
      out.printf(
          Locale.ROOT,
          "The job took %.1f s; %s%n",
          (System.nanoTime() - start) / 1e9,
          ProcessMemory.describe());
      describeStores(control.gauges());
      return judge(plan, control);
    }
  }

  /** Ends the run now, whatever it is doing. */
  void abort() throws Exception {
    Story told = story;
    if (told != null) {
      told.abort();
    }
  }

  private InputPlan announce() throws IOException, UsageException {
    MemoryNeed.check(options);
    Path input = InputChoice.find(options.input, Path.of(System.getProperty("java.home", "")));
    InputPlan plan = InputChoice.plan(input, options.words);
    String memory =
        options.backend.backend().usesManagedMemory()
            ? Sizes.bytes(options.memory.getBytes()) + " for the state"
            : "state on the heap (--memory does not apply)";
    out.printf(
        Locale.ROOT,
        "State backend %s, %s, parallelism %d, then %d%n",
        options.backend.backend(),
        memory,
        options.parallelism,
        options.resumeParallelism);
    out.printf(
        Locale.ROOT,
        "Input %s: %s words of %s files%n",
        input,
        Sizes.full(plan.words()),
        Sizes.full(plan.files()));
    return plan;
  }

  private void describeStores(StoreGauges gauges) {
    if (gauges.mostMemoryBytes() > 0) {
      out.printf(
          "The stores took %s of %s; their logs, in memory and on disk, were %s at most%n",
          Sizes.bytes(gauges.mostMemoryBytes()),
          Sizes.bytes(options.memory.getBytes()),
          Sizes.bytes(gauges.mostLogBytes()));
    }
  }

  private void section(String title) {
    out.println();
    out.println(title);
  }

  private boolean judge(InputPlan plan, RunControl control) throws IOException {
    Truth truth = Truth.of(plan, WordJob.windowWords(plan));
    Comparison comparison = Comparison.of(truth, control.results().byWord());
    List<String> problems = problems(control);
    if (comparison.total() == 0 && problems.isEmpty()) {
      out.printf(
          "OK: %s words, %s distinct, all counts right%n",
          Sizes.full(plan.words()), Sizes.full(truth.byWord().size()));
      return true;
    }
    problems.forEach(problem -> out.println("WRONG: " + problem));
    if (comparison.total() > 0) {
      out.println(
          "WRONG: "
              + Sizes.full(comparison.total())
              + " differences from the count in memory, the first "
              + comparison.listed().size()
              + ":");
      comparison.listed().forEach(difference -> out.println("  " + difference));
    }
    return false;
  }

  private static List<String> problems(RunControl control) {
    List<String> problems = new ArrayList<>();
    PlannedFailure failure = control.failure();
    if (!failure.isThrown()) {
      problems.add("no task was failed on purpose");
    }
    if (failure.unplannedRestarts() > 0) {
      problems.add(
          "restarts that were not planned=" + failure.unplannedRestarts() + ", expected=0");
    }
    if (control.results().conflicts() > 0) {
      problems.add(Sizes.full(control.results().conflicts()) + " words had two different results");
    }
    return problems;
  }
}
