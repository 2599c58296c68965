package io.fasterkv.bench.flink;

import io.fasterkv.bench.JvmNeeds;
import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.demo.Backend;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.JsonFile;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.rows.Goal;
import io.fasterkv.bench.rows.GoalTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./bench flink-state}. */
@Command(
    name = "flink-state",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "Flink's state backends side by side: the rows of Flink's own state benchmarks.",
    description = {
      "",
      "Backends are opened as a task opens them, without a job around them. Each suite is loaded"
          + " into all of them; then they take turns, row after row and round after round, with the"
          + " same calls on the same keys, and must read the same. The table shows operations a"
          + " millisecond, medians over the rounds, and ratios within the rounds.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 measured, met or not; 1 a wrong answer or a failure; 2 bad arguments."
    })
public final class FlinkStateCommand implements Callable<Integer>, JvmNeeds {
  /** Objects of a map of ten entries with its key, twice. */
  private static final long HEAP_BYTES_PER_KEY = 5_000;

  private static final int QUICK_KEYS = 2_000;

  @Option(
      names = "--backends",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = BackendConverter.class,
      description = "One or more of faster, hashmap, rocksdb. Default: all.")
  List<Backend> backends = List.of(Backend.values());

  @Option(
      names = "--suites",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = SuiteConverter.class,
      description = "One or more of value, list, map, ttl-value, ttl-list, ttl-map. Default: all.")
  List<Suite> suites = List.of(Suite.values());

  @Option(
      names = "--rows",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      description = "Only these: one or more of ${COMPLETION-CANDIDATES}. Default: all.")
  List<StateRow> rows = List.of(StateRow.values());

  @Option(
      names = "--memory",
      paramLabel = "SIZE,...",
      split = ",",
      hideParamSyntax = true,
      converter = MemorySetting.Converter.class,
      description =
          "Managed memory of a backend, such as 512m; tenth is a tenth of the state. Default:"
              + " 512m,tenth.")
  List<MemorySetting> memory =
      List.of(MemorySetting.of("512m"), MemorySetting.of(MemorySetting.TENTH));

  @Option(
      names = "--keys",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "Set-up keys, and as many new ones: 100 to 16m. Default: 500k.")
  long keys = 500_000;

  @Option(
      names = "--calls",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "Calls of a row in a slice, up to the number of keys. Default: that number.")
  long calls;

  @Option(
      names = "--rounds",
      paramLabel = "R",
      description = "How often all rows take their turn: 1 to 1000. Default: ${DEFAULT-VALUE}.")
  int rounds = 5;

  @Option(
      names = "--clock",
      paramLabel = "CLOCK",
      description =
          "wall, or cpu: what the calling thread has of a processor, which is steadier where others"
              + " use the machine, and leaves out threads in the background. Default:"
              + " ${DEFAULT-VALUE}.")
  Clock clock = Clock.wall;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Of keys and values. Default: ${DEFAULT-VALUE}.")
  long seed = 1;

  @Option(
      names = "--quick",
      description = "A rehearsal: few keys, little time. Its figures say nothing.")
  boolean isQuick;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "On the disk to measure. Default: faster-bench-disk in the user's home.")
  Path directory = Path.of(System.getProperty("user.home", "."), "faster-bench-disk");

  @Mixin OutputOptions output = new OutputOptions();

  @Spec @Nullable CommandSpec spec;

  @Override
  public List<String> jvmOptions() {
    return JvmNeeds.heap(keys * HEAP_BYTES_PER_KEY);
  }

  @Override
  public Integer call() throws Exception {
    FlinkPlan plan = plan();
    List<StateRun> runs = runs(plan);
    List<StateResult> results = new ArrayList<>();
    WorkDirectory work = WorkDirectory.create(directory);
    try (Progress progress =
        Progress.start("flink-state", runs.stream().mapToInt(StateRun::steps).sum())) {
      for (StateRun run : runs) {
        results.addAll(run.run(work, progress));
        write(new StateReport(results).json(plan));
      }
    } finally {
      work.delete();
    }
    StateReport report = new StateReport(results);
    System.out.println(report.table());
    List<Goal> goals = report.goals();
    if (!goals.isEmpty()) {
      System.out.println();
      System.out.println(GoalTable.of(goals));
    }
    return 0;
  }

  private void write(List<?> rowsOfJson) throws IOException {
    if (output.json != null) {
      JsonFile.write(output.json, rowsOfJson);
    }
  }

  private List<StateRun> runs(FlinkPlan plan) {
    List<StateRun> runs = new ArrayList<>();
    for (MemorySetting setting : memory) {
      for (Suite suite : suites) {
        runs.add(new StateRun(plan, suite, setting, rows));
      }
    }
    return runs;
  }

  private FlinkPlan plan() {
    Ranges.check(spec, keys >= 100 && keys <= 16_000_000, "--keys", keys, "100 to 16m");
    Ranges.check(spec, calls >= 0 && calls <= keys, "--calls", calls, "up to " + keys);
    Ranges.check(spec, rounds >= 1 && rounds <= 1000, "--rounds", rounds, "1 to 1000");
    int number = isQuick ? QUICK_KEYS : (int) keys;
    return new FlinkPlan(
        List.copyOf(backends),
        number,
        number,
        calls == 0 || isQuick ? number : (int) calls,
        isQuick ? 2 : rounds,
        clock,
        seed);
  }
}
