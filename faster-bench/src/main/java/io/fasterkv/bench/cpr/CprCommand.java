package io.fasterkv.bench.cpr;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.QuickOption;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.args.RoundsOption;
import io.fasterkv.bench.cpr.experiment.CprOutput;
import io.fasterkv.bench.cpr.experiment.CprPart;
import io.fasterkv.bench.cpr.experiment.CprPlan;
import io.fasterkv.bench.cpr.experiment.CprStore;
import io.fasterkv.bench.cpr.figures.BufferFigure;
import io.fasterkv.bench.cpr.figures.LatencyFigures;
import io.fasterkv.bench.cpr.figures.ThroughputFigures;
import io.fasterkv.bench.cpr.rows.BandwidthRow;
import io.fasterkv.bench.cpr.rows.BaselineClasses;
import io.fasterkv.bench.cpr.rows.CheckpointRows;
import io.fasterkv.bench.cpr.rows.RecoveryRow;
import io.fasterkv.bench.cpr.rows.RestRow;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.GoalTable;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.report.TableAtEnd;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./bench cpr}. */
@Command(
    name = "cpr",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "The cost of checkpoints for operations, and their speed: rows and figures.",
    description = {
      "",
      "The rows are ratios within one run. The figures are those of the paper on concurrent prefix"
          + " recovery: throughput against time (12, 18), latency against time (14), throughput"
          + " against the buffers of clients (15); a PNG each, and its data as CSV.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 measured, met or not; 1 a wrong answer or a failure; 2 bad arguments."
    })
public final class CprCommand implements Callable<Integer>, JvmNeeds {
  private static final long HEAP_BYTES = 512L << 20;
  private static final long QUICK_KEYS = 50_000;
  private static final int STREAM_LENGTH = 16_000_000;

  /** Maximum ratio of a store's log to its data. */
  private static final int DISK_SHARE = 16;

  @Option(
      names = "--keys",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description =
          "Keys: 1k to 128m. Default: 8m."
              + " Bandwidth and recovery are measured with twice as many.")
  long keys = 8_000_000;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that run operations: 1 to 256. Default: ${DEFAULT-VALUE}.")
  int threads = 2;

  @Option(
      names = "--unit",
      paramLabel = "S",
      converter = Converters.OfSeconds.class,
      description =
          "What all times are multiples of, 0.02 to 60. Default: 1, eight minutes in all.")
  Duration unit = Duration.ofSeconds(1);

  @Mixin RoundsOption rounds = new RoundsOption(5);

  @Option(
      names = "--forks",
      paramLabel = "N",
      description =
          "How many JVMs compare the store at rest with the code before CPR: 1 to 100. Default:"
              + " ${DEFAULT-VALUE}.")
  int forks = 4;

  @Mixin QuickOption quick = new QuickOption();

  @Option(
      names = "--only",
      paramLabel = "PART,...",
      split = ",",
      hideParamSyntax = true,
      description = "One or more of ${COMPLETION-CANDIDATES}. Default: all.")
  List<PartName> parts = List.of(PartName.values());

  @Option(
      names = "--baseline-jar",
      paramLabel = "FILE",
      description =
          "faster-core without CPR, to compare with at rest. Default: compiled from"
              + " --baseline-revision.")
  @Nullable Path baselineJar;

  @Option(
      names = "--baseline-revision",
      paramLabel = "REV",
      description = "Of this program's git repository. Default: ${DEFAULT-VALUE}.")
  String baselineRevision = BaselineClasses.BEFORE_CPR;

  @Mixin DirectoryOption directory = DirectoryOption.onDisk();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Write the figures there. Default: no figures.")
  @Nullable Path out;

  @Mixin OutputOptions output = new OutputOptions();

  @Spec @Nullable CommandSpec spec;

  /** The parts that can be measured separately, in the order of measurement. */
  enum PartName {
    rest,
    checkpoints,
    figure14,
    bandwidth,
    recovery,
    figure12,
    figure15
  }

  @Override
  public List<String> jvmOptions() {
    return JvmNeeds.heap(HEAP_BYTES + threads * (STREAM_LENGTH * 64L));
  }

  @Override
  public Integer call() throws IOException {
    Map<PartName, CprPart> chosen = parts(plan());
    List<Goal> goals = new CopyOnWriteArrayList<>();
    List<String> failures;
    try (TableAtEnd atEnd = GoalTable.atEnd(goals)) {
      failures = directory.inNew(work -> measure(chosen, work, goals));
    }
    if (out != null) {
      System.out.println("figures: " + out.toAbsolutePath());
    }
    failures.forEach(failure -> System.err.println("FAILED: " + failure));
    return failures.isEmpty() ? 0 : 1;
  }

  /** Runs the parts one after the other and returns the failures. */
  private List<String> measure(Map<PartName, CprPart> chosen, WorkDirectory work, List<Goal> goals)
      throws IOException {
    List<String> failures = new ArrayList<>();
    try (Progress progress =
        Progress.start("cpr", chosen.values().stream().mapToInt(CprPart::steps).sum())) {
      checkSpace(work.path());
      CprOutput to = new CprOutput(work, out, progress);
      for (Map.Entry<PartName, CprPart> part : chosen.entrySet()) {
        // Keep the results of other parts if one fails after minutes.
        try {
          goals.addAll(part.getValue().run(to));
        } catch (IOException | RuntimeException | Error e) {
          failures.add(part.getKey() + ": " + e);
          e.printStackTrace(System.err);
        }
        output.write(goals);
      }
    }
    return failures;
  }

  private CprPlan plan() {
    Ranges.check(spec, keys >= 1_000 && keys <= 128_000_000, "--keys", keys, "1k to 128m");
    Ranges.between(spec, "--threads", threads, 1, 256);
    Ranges.between(spec, "--forks", forks, 1, 100);
    long millis = unit.toMillis();
    Ranges.check(spec, millis >= 20 && millis <= 60_000, "--unit", unit, "0.02 to 60 seconds");
    Ranges.check(
        spec,
        baselineJar == null || Files.exists(baselineJar),
        "--baseline-jar",
        String.valueOf(baselineJar),
        "a file that exists");
    return quick.isQuick()
        ? new CprPlan(QUICK_KEYS, threads, Duration.ofMillis(50), 2, (int) QUICK_KEYS)
        : new CprPlan(keys, threads, unit, rounds.rounds(), STREAM_LENGTH);
  }

  private Map<PartName, CprPart> parts(CprPlan plan) {
    Map<PartName, CprPart> chosen = new EnumMap<>(PartName.class);
    for (PartName name : parts) {
      chosen.put(
          name,
          switch (name) {
            case rest ->
                new RestRow(plan, quick.isQuick() ? 1 : forks, baselineJar, baselineRevision);
            case checkpoints -> new CheckpointRows(plan);
            case figure14 -> new LatencyFigures(plan.withAProcessorToSpare());
            case bandwidth -> new BandwidthRow(plan.withTwiceTheKeys());
            case recovery -> new RecoveryRow(plan.withTwiceTheKeys());
            case figure12 -> new ThroughputFigures(plan);
            case figure15 -> new BufferFigure(plan);
          });
    }
    return chosen;
  }

  /** Checks the free space at the start, rather than failing in the middle of a run. */
  private void checkSpace(Path path) throws IOException {
    long needed = quick.isQuick() ? 0 : DISK_SHARE * CprStore.dataBytes(plan());
    long free = Files.getFileStore(path).getUsableSpace();
    if (free < needed) {
      throw Ranges.refusal(
          spec,
          "the disk is too full: --directory="
              + directory.path()
              + ", free="
              + free
              + ", needed="
              + needed
              + "; take another --directory or fewer --keys");
    }
  }
}
