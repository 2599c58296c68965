package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.args.BackendConverter;
import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.QuickOption;
import io.fasterkv.bench.args.RoundsOption;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.GoalTable;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.report.TableAtEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
  private static final int CHECKPOINTS = 2_000;
  private static final int QUICK_CHECKPOINTS = 12;

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
              + " rocksdb (see --storage); growth, 2,000 checkpoints of small state on both; slot,"
              + " operators that share a slot's memory."
              + " Default: all.")
  List<Part> parts = List.of(Part.values());

  @Mixin RowOptions rows = new RowOptions();

  @Mixin RoundsOption rounds = new RoundsOption(3);

  @Mixin LargeOptions large = new LargeOptions();

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
      names = "--growth",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      description =
          "State of the part growth: one or more of ${COMPLETION-CANDIDATES}. Default: all.")
  List<GrowthState> growthStates = List.of(GrowthState.values());

  @Mixin SlotOptions slot = new SlotOptions();

  @Mixin QuickOption quick = new QuickOption();

  @Mixin DirectoryOption directory = DirectoryOption.onDisk();

  @Mixin OutputOptions output = new OutputOptions();

  /** A part that can be measured separately. */
  enum Part {
    rows,
    checkpoint,
    growth,
    slot
  }

  /** Storage for checkpoints. */
  enum Storage {
    local,
    slow
  }

  @Override
  public List<String> jvmOptions() {
    return JvmNeeds.heap(rows.heapBytes());
  }

  @Override
  public Integer call() throws Exception {
    List<FlinkPart<?>> wanted = wanted();
    int steps = wanted.stream().mapToInt(FlinkPart::steps).sum();
    directory.inNew(work -> {
      try (TableAtEnd atEnd = TableAtEnd.of(() -> text(wanted));
          Progress progress = Progress.start("flink-state", steps)) {
        for (FlinkPart<?> part : wanted) {
          part.run(work, progress, () -> output.write(json(wanted)));
        }
      }
      return wanted;
    });
    return 0;
  }

  /** The tables of the parts that have results. */
  private static String text(List<FlinkPart<?>> parts) {
    StringBuilder tables = new StringBuilder();
    List<Goal> goals = new ArrayList<>();
    for (FlinkPart<?> part : parts) {
      if (part.hasResults()) {
        FlinkReport report = part.report();
        tables.append(report.table()).append("\n\n");
        goals.addAll(report.goals());
      }
    }
    return tables.isEmpty() ? "" : tables + GoalTable.of(goals);
  }

  private static List<Object> json(List<FlinkPart<?>> parts) {
    List<Object> all = new ArrayList<>();
    parts.forEach(part -> all.addAll(part.report().json()));
    return all;
  }

  /**
   * The parts in the order of measurement. All arguments are checked, also those of other parts.
   */
  private List<FlinkPart<?>> wanted() {
    FlinkPlan rowPlan = rows.plan(backends, rounds.rounds(), quick.isQuick());
    // The heap backend could have large state, but its checkpoints are never incremental.
    LargePlan largePlan =
        large.plan(
            backends.stream().filter(Backend::usesManagedMemory).toList(),
            rounds.rounds(),
            quick.isQuick());
    List<SlowPlan> slowPlans = slow.plans(largePlan, quick.isQuick());
    FlinkPart<SlotResult> slotPart =
        slot.part(largePlan.backends(), rounds.rounds(), quick.isQuick());
    List<FlinkPart<?>> wanted = new ArrayList<>();
    if (parts.contains(Part.rows)) {
      wanted.add(rows.part(rowPlan));
    }
    if (!largePlan.backends().isEmpty()) {
      if (parts.contains(Part.checkpoint) && storage.contains(Storage.local)) {
        wanted.add(LargeOptions.part(largePlan));
      }
      if (parts.contains(Part.checkpoint) && storage.contains(Storage.slow)) {
        wanted.add(SlowOptions.part(slowPlans));
      }
      if (parts.contains(Part.growth)) {
        wanted.add(growth(largePlan.backends()));
      }
      if (parts.contains(Part.slot)) {
        wanted.add(slotPart);
      }
    }
    return wanted;
  }

  private FlinkPart<GrowthResult> growth(List<Backend> kinds) {
    GrowthPlan plan =
        new GrowthPlan(kinds, growthStates, quick.isQuick() ? QUICK_CHECKPOINTS : CHECKPOINTS);
    return new FlinkPart<>(
        List.of((work, progress) -> new GrowthRun(plan, work).run(progress)),
        GrowthRun.steps(plan),
        GrowthReport::new);
  }
}
