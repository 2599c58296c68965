package io.fasterkv.bench.memory;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.memory.MemoryRun.Phase;
import io.fasterkv.bench.report.TableAtEnd;
import io.fasterkv.bench.report.TextTable;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./bench memory}. */
@Command(
    name = "memory",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "Resident memory of the process over the store's budget.",
    description = {
      "",
      "Runs nothing but the store, much larger than its memory: load, reads, updates, growth,"
          + " compaction, scan. What the JVM itself takes is measured before and subtracted; its"
          + " heap is of a fixed size and touched from the start.",
      ""
    },
    footer = {"", "Exit codes: 0 within the bound, 1 over it or a failure, 2 bad arguments."})
public final class MemoryCommand implements Callable<Integer>, JvmNeeds {
  /** Maximum memory of the store beyond its budget. */
  public static final long BOUND_BYTES = 64L << 20;

  @Option(
      names = "--memory",
      paramLabel = "BYTES",
      converter = Converters.OfBytes.class,
      description = "About the store's budget, 16m or more. Default: 256m.")
  long memoryBytes = 256L << 20;

  @Option(
      names = "--data",
      paramLabel = "BYTES",
      converter = Converters.OfBytes.class,
      description = "How much is loaded. Default: 1g.")
  long dataBytes = 1L << 30;

  @Option(
      names = "--value-bytes",
      paramLabel = "N",
      description = "Bytes of a value: 8 to 65536. Default: ${DEFAULT-VALUE}.")
  int valueBytes = 1000;

  @Mixin DirectoryOption directory = DirectoryOption.onDisk();

  @Mixin OutputOptions output = new OutputOptions();

  @Spec @Nullable CommandSpec spec;

  /** Runs the command by itself, in a process that does nothing else. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new MemoryCommand()).execute(arguments));
  }

  @Override
  public List<String> jvmOptions() {
    return List.of("-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC");
  }

  @Override
  public Integer call() throws IOException {
    Ranges.check(spec, memoryBytes >= 16L << 20, "--memory", memoryBytes, "16m and more");
    Ranges.check(spec, dataBytes >= 1L << 20, "--data", dataBytes, "1m and more");
    Ranges.between(spec, "--value-bytes", valueBytes, 8, 1 << 16);
    List<Phase> phases =
        directory.inNew(work -> {
          MemoryRun run = new MemoryRun(dataBytes, valueBytes, memoryBytes, work.path());
          try (TableAtEnd atEnd =
              TableAtEnd.of(() -> run.phases().isEmpty() ? "" : table(run.phases()))) {
            return run.run();
          }
        });
    long worst = phases.stream().mapToLong(Phase::overBytes).max().orElseThrow();
    System.out.println(
        "highest over JVM and budget: "
            + mebibytes(worst)
            + " MiB, wanted at most "
            + mebibytes(BOUND_BYTES)
            + " MiB");
    output.write(phases);
    return worst <= BOUND_BYTES ? 0 : 1;
  }

  private static String table(List<Phase> phases) {
    TextTable table = new TextTable("part", "highest resident MiB", "over JVM and budget MiB");
    for (Phase phase : phases) {
      table.add(phase.name(), mebibytes(phase.residentBytes()), mebibytes(phase.overBytes()));
    }
    return table.toString();
  }

  private static String mebibytes(long bytes) {
    return String.format(Locale.ROOT, "%.1f", bytes / (double) (1 << 20));
  }
}
