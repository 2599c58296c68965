package io.fasterkv.bench.soak;

import io.fasterkv.bench.args.BackendOption;
import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.report.GoalTable;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.report.TableAtEnd;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./bench soak}. */
@Command(
    name = "soak",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "A backend at a steady pace for a long time: memory, disk and latency must be flat.",
    description = {
      "",
      "State of every kind, timers and state that expires, larger than the backend's memory; a"
          + " checkpoint in every sample. All that is read is checked. The table shows some of the"
          + " samples, and how the last third of them compares to the middle third.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 measured, flat or not; 1 a wrong answer or a failure; 2 bad arguments."
    })
public final class SoakCommand implements Callable<Integer>, JvmNeeds {
  private static final int FEWEST_SAMPLES = 6;

  @Mixin BackendOption backend = new BackendOption();

  @Option(
      names = "--seconds",
      paramLabel = "SECONDS",
      converter = Converters.OfSeconds.class,
      description = "How long. Default: 3600.")
  Duration duration = Duration.ofHours(1);

  @Option(
      names = "--sample",
      paramLabel = "SECONDS",
      converter = Converters.OfSeconds.class,
      description = "From one checkpoint to the next; at least six in all. Default: 10.")
  Duration sample = Duration.ofSeconds(10);

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      converter = Converters.OfBytes.class,
      description = "Managed memory of the backend, 1m to 1t. Default: 64m.")
  long memoryBytes = 64L << 20;

  @Option(
      names = "--keys",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "Keys, each with some 400 bytes of state: 100 to 16m. Default: 1m.")
  long keys = 1_000_000;

  @Option(
      names = "--records-per-second",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "The pace, 1 to 1m. Default: 2k.")
  long recordsPerSecond = 2_000;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Write plots over time, and their data, there.")
  @Nullable Path out;

  @Mixin DirectoryOption directory = DirectoryOption.onDisk();

  @Mixin OutputOptions output = new OutputOptions();

  @Spec @Nullable CommandSpec spec;

  /** A heap that is touched from the start, so that it does not grow during the run. */
  @Override
  public List<String> jvmOptions() {
    return List.of("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch");
  }

  @Override
  public Integer call() throws Exception {
    SoakPlan plan = plan();
    List<SoakSample> samples =
        directory.inNew(work -> {
          try (Progress progress = Progress.start("soak", plan.samples())) {
            SoakRun run = new SoakRun(plan, work, progress);
            try (TableAtEnd atEnd = TableAtEnd.of(() -> new SoakReport(run.samples()).table())) {
              return run.run();
            }
          }
        });
    SoakReport report = new SoakReport(samples);
    System.out.println();
    System.out.println(GoalTable.of(report.goals()));
    output.write(samples);
    if (out != null) {
      report.draw(out);
    }
    return 0;
  }

  private SoakPlan plan() {
    Ranges.check(
        spec,
        memoryBytes >= 1 << 20 && memoryBytes <= 1L << 40,
        "--memory",
        memoryBytes,
        "1m to 1t");
    Ranges.check(spec, keys >= 100 && keys <= 16_000_000, "--keys", keys, "100 to 16m");
    Ranges.check(
        spec,
        recordsPerSecond >= 1 && recordsPerSecond <= 1_000_000,
        "--records-per-second",
        recordsPerSecond,
        "1 to 1m");
    Ranges.check(
        spec,
        sample.isPositive() && duration.dividedBy(sample) >= FEWEST_SAMPLES,
        "--sample",
        sample,
        "more than 0, at most a sixth of --seconds");
    return new SoakPlan(
        backend.backend(), memoryBytes, (int) keys, (int) recordsPerSecond, duration, sample);
  }
}
