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
import java.util.concurrent.TimeUnit;
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
      "Backends are opened as a task opens them, without a job around them, each in a process of"
          + " its own. Each suite is loaded into all of them; then they take turns, row after row"
          + " and round after round, with the same calls on the same keys, and must read the same."
          + " The table shows operations a millisecond, medians over the rounds, and ratios within"
          + " the rounds.",
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
  private static final long WARM_NANOS = 2_000_000_000L;

  @Option(
      names = "--backends",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = BackendConverter.class,
      description = "One or more of faster, hashmap, rocksdb. Default: all.")
  List<Backend> backends = List.of(Backend.values());

  @Option(
      names = "--parts",
      paramLabel = "PART,...",
      split = ",",
      hideParamSyntax = true,
      description =
          "rows, of Flink's benchmarks; checkpoint, and restores, of much state on faster and"
              + " rocksdb (see --storage). Default: all.")
  List<Part> parts = List.of(Part.values());

  @Option(
      names = "--suites",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = SuiteConverter.class,
      description =
          "One or more of value, list, long-list, map, ttl-value, ttl-list, ttl-long-list, ttl-map."
              + " Default: those without ttl.")
  List<Suite> suites = List.of(Suite.VALUE, Suite.LIST, Suite.LONG_LIST, Suite.MAP);

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
              + " 2g, in which all that is written fits, and tenth.")
  List<MemorySetting> memory =
      List.of(MemorySetting.of("2g"), MemorySetting.of(MemorySetting.TENTH));

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
      description =
          "Calls of a row in a slice at most, up to the number of keys; fewer where the slowest"
              + " backend needs some seconds for them. Default: the number of keys.")
  long calls;

  @Option(
      names = "--rounds",
      paramLabel = "R",
      description = "How often all rows take their turn: 1 to 1000. Default: ${DEFAULT-VALUE}.")
  int rounds = 3;

  @Option(
      names = "--turn",
      paramLabel = "SECONDS",
      description =
          "How long a backend is measured in a turn, at least, after as long a time that does not"
              + " count, and three times as long where a row overwrites, appends or removes: 1 to"
              + " 3600. Default: ${DEFAULT-VALUE}.")
  int turnSeconds = 1;

  @Option(
      names = "--state-bytes",
      paramLabel = "SIZE",
      converter = Converters.OfBytes.class,
      description = "Of the state that checkpoints are taken of: 1m to 1t. Default: 5g.")
  long stateBytes = 5L << 30;

  @Option(
      names = "--state-memory",
      paramLabel = "SIZE",
      converter = Converters.OfBytes.class,
      description = "Managed memory of a backend with that state: 1m to 1t. Default: 1g.")
  long stateMemory = 1L << 30;

  @Option(
      names = "--storage",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      description =
          "Where checkpoints go: local, files of --state-bytes of state; slow, files that take"
              + " 30 ms to open and streams of 40 MB/s. Default: both.")
  List<Storage> storage = List.of(Storage.values());

  @Mixin SlowOptions slow = new SlowOptions();

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

  /** What can be measured by itself. */
  enum Part {
    rows,
    checkpoint
  }

  /** Storage for checkpoints. */
  enum Storage {
    local,
    slow
  }

  @Override
  public List<String> jvmOptions() {
    return JvmNeeds.heap(keys * HEAP_BYTES_PER_KEY);
  }

  @Override
  public Integer call() throws Exception {
    FlinkPlan plan = plan();
    LargePlan large = largePlan();
    List<StateRun> runs = parts.contains(Part.rows) ? runs(plan) : List.of();
    List<LargeRun> largeRuns = new ArrayList<>();
    List<SlowRun> slowRuns = new ArrayList<>();
    Measured measured =
        new Measured(plan, new ArrayList<>(), large, new ArrayList<>(), new ArrayList<>());
    WorkDirectory work = WorkDirectory.create(directory);
    if (parts.contains(Part.checkpoint) && !large.backends().isEmpty()) {
      if (storage.contains(Storage.local)) {
        largeRuns.add(new LargeRun(large, work));
      }
      if (storage.contains(Storage.slow)) {
        slow.plans(large, isQuick).forEach(each -> slowRuns.add(new SlowRun(each, work)));
      }
    }
    int steps = runs.stream().mapToInt(StateRun::steps).sum();
    steps += largeRuns.size() * LargeRun.steps(large);
    steps += slowRuns.stream().mapToInt(SlowRun::steps).sum();
    try (Progress progress = Progress.start("flink-state", steps)) {
      for (StateRun run : runs) {
        measured.rows.addAll(run.run(work, progress));
        measured.write(output);
      }
      for (LargeRun run : largeRuns) {
        measured.large.addAll(run.run(progress));
        measured.write(output);
      }
      for (SlowRun run : slowRuns) {
        measured.slow.addAll(run.run(progress));
        measured.write(output);
      }
    } finally {
      work.delete();
    }
    measured.print();
    return 0;
  }

  /** The results so far, part by part. */
  private record Measured(
      FlinkPlan plan,
      List<StateResult> rows,
      LargePlan largePlan,
      List<LargeResult> large,
      List<SlowResult> slow) {

    void print() {
      StateReport ofRows = new StateReport(rows);
      LargeReport ofLarge = new LargeReport(largePlan, large);
      SlowReport ofSlow = new SlowReport(slow);
      List<Goal> goals = new ArrayList<>(ofRows.goals());
      goals.addAll(ofLarge.goals());
      goals.addAll(ofSlow.goals());
      if (!rows.isEmpty()) {
        System.out.println(ofRows.table() + "\n");
      }
      if (!large.isEmpty()) {
        System.out.println(ofLarge.table() + "\n");
      }
      if (!slow.isEmpty()) {
        System.out.println(ofSlow.table() + "\n");
      }
      System.out.println(GoalTable.of(goals));
    }

    void write(OutputOptions output) throws IOException {
      if (output.json != null) {
        List<Object> all = new ArrayList<>(new StateReport(rows).json(plan));
        all.addAll(new LargeReport(largePlan, large).json());
        all.addAll(new SlowReport(slow).json());
        JsonFile.write(output.json, all);
      }
    }
  }

  /** The heap could hold much state, but its checkpoints are always whole. */
  private LargePlan largePlan() {
    long least = 1 << 20;
    long most = 1L << 40;
    Ranges.check(
        spec, stateBytes >= least && stateBytes <= most, "--state-bytes", stateBytes, "1m to 1t");
    Ranges.check(
        spec,
        stateMemory >= least && stateMemory <= most,
        "--state-memory",
        stateMemory,
        "1m to 1t");
    List<Backend> inManagedMemory = backends.stream().filter(Backend::usesManagedMemory).toList();
    return isQuick
        ? new LargePlan(inManagedMemory, 4 << 20, LargePlan.VALUE_BYTES, 16 << 20, 2)
        : new LargePlan(inManagedMemory, stateBytes, LargePlan.VALUE_BYTES, stateMemory, rounds);
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
    Ranges.check(spec, turnSeconds >= 1 && turnSeconds <= 3600, "--turn", turnSeconds, "1 to 3600");
    Ranges.check(spec, rounds >= 1 && rounds <= 1000, "--rounds", rounds, "1 to 1000");
    int number = isQuick ? QUICK_KEYS : (int) keys;
    return new FlinkPlan(
        List.copyOf(backends),
        number,
        number,
        calls == 0 || isQuick ? number : (int) calls,
        isQuick ? 0 : WARM_NANOS,
        isQuick ? 0 : TimeUnit.SECONDS.toNanos(turnSeconds),
        isQuick ? 2 : rounds,
        clock,
        seed);
  }
}
