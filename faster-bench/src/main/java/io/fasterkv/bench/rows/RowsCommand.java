package io.fasterkv.bench.rows;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.disk.DiskOptions;
import io.fasterkv.bench.disk.DiskRow;
import io.fasterkv.bench.disk.DiskRun;
import io.fasterkv.bench.disk.Fio;
import io.fasterkv.bench.memory.MemoryProcess;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.GoalTable;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TableAtEnd;
import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.ycsb.Data;
import io.fasterkv.bench.ycsb.Timing;
import io.fasterkv.bench.ycsb.TimingOptions;
import io.fasterkv.bench.ycsb.YcsbReport;
import io.fasterkv.bench.ycsb.YcsbRun;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./bench rows}. */
@Command(
    name = "rows",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "Every figure the project has set itself: measured, wanted, met or not.",
    description = {
      "",
      "All rows in memory take turns in one run, store and fio take turns on the disk, and a"
          + " process of its own measures memory. A ratio is the median over the rounds of the"
          + " ratios within a round.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 measured, met or not; 1 a wrong answer or a failure; 2 bad arguments."
    })
public final class RowsCommand implements Callable<Integer>, JvmNeeds {
  private static final long HEAP_FOR_STREAMS = 512L << 20;

  @Option(
      names = "--keys",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "Keys in memory: 100 to 1g. Default: 16m.")
  long keys = 16_000_000;

  @Mixin DiskOptions disk = new DiskOptions();

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Operations in a batch: 2 to 1024. Default: ${DEFAULT-VALUE}.")
  int batch = 32;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads where there are several: 2 to 256. Default: ${DEFAULT-VALUE}.")
  int threads = 2;

  @Mixin TimingOptions timing = new TimingOptions();

  @Option(
      names = "--only",
      paramLabel = "PART,...",
      split = ",",
      hideParamSyntax = true,
      description = "One or more of ${COMPLETION-CANDIDATES}. Default: all.")
  List<Part> parts = List.of(Part.values());

  @Mixin DirectoryOption directory = DirectoryOption.onDisk();

  @Mixin OutputOptions output = new OutputOptions();

  @Spec @Nullable CommandSpec spec;

  /** A part that can be measured separately. */
  enum Part {
    memory,
    disk,
    resident
  }

  @Override
  public List<String> jvmOptions() {
    long heap =
        StoreKind.CHM.heapBytes(keys, Long.BYTES) + StoreKind.CEILING.heapBytes(keys, Long.BYTES);
    return JvmNeeds.heap(heap + HEAP_FOR_STREAMS * threads / 2);
  }

  @Override
  public Integer call() throws IOException {
    Ranges.check(spec, keys >= 100 && keys <= 1 << 30, "--keys", keys, "100 to 1g");
    Ranges.between(spec, "--batch", batch, 2, 1024);
    Ranges.between(spec, "--threads", threads, 2, 256);
    List<Goal> goals = new CopyOnWriteArrayList<>();
    try (TableAtEnd atEnd = GoalTable.atEnd(goals)) {
      directory.inNew(work -> {
        for (Part part : Part.values()) {
          if (parts.contains(part)) {
            goals.addAll(measure(part, work));
          }
        }
        return goals;
      });
    }
    output.write(goals);
    return 0;
  }

  private List<Goal> measure(Part part, WorkDirectory work) throws IOException {
    return switch (part) {
      case memory -> inMemory(work.directory("memory"));
      case disk -> onDisk(work.directory("disk"));
      case resident -> List.of(resident(work.directory("resident")));
    };
  }

  private List<Goal> inMemory(Path path) {
    MemoryGoals goals = new MemoryGoals(batch, threads);
    Data data = new Data(keys, Long.BYTES, 0, 0);
    YcsbRun run = new YcsbRun(data, timing.timing(), goals.rows(), path);
    try (TableAtEnd atEnd = YcsbReport.atEnd(run)) {
      return goals.goals(run.run());
    }
  }

  private List<Goal> onDisk(Path path) throws IOException {
    Timing time = timing.timing();
    DiskRun run = new DiskRun(disk.plan(time.slice(), time.rounds(), path));
    String note = run.hasFio() ? "" : Fio.HOW_TO_GET;
    DiskRow reads = run.reads();
    DiskRow writes = run.writes(disk.writeValueBytes(), disk.writers());
    return List.of(
        Goal.atLeast(reads.name() + ", against fio", 0.8, reads.ratio().orElse(null), note),
        Goal.atLeast(writes.name() + ", against fio", 0.7, writes.ratio().orElse(null), note));
  }

  private Goal resident(Path path) throws IOException {
    double worst = MemoryProcess.highestOverBytes(path) / (double) (1 << 20);
    return Goal.atMost(
        "resident memory over JVM and budget", "MiB", 64, new Spread(worst, worst, worst), "");
  }
}
