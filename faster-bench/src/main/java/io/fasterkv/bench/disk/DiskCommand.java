package io.fasterkv.bench.disk;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.JsonFile;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TextTable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./bench disk}. */
@Command(
    name = "disk",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "The store on a disk, against fio on the same disk.",
    description = {
      "",
      "Random reads of records on disk, and the write bandwidth of blind updates while four fifths"
          + " of the memory are read-only; each in turn with fio, which uses direct I/O.",
      ""
    })
public final class DiskCommand implements Callable<Integer> {
  @Option(
      names = "--data",
      paramLabel = "BYTES",
      converter = Converters.OfBytes.class,
      description =
          "How much the store holds, 64m or more; memory for the log is a thirty-second of it for"
              + " reads and a quarter for writes. Default: 1g.")
  long dataBytes = 1L << 30;

  @Option(
      names = "--value-bytes",
      paramLabel = "N",
      description = "Bytes of a value: 8 to 65536. Default: ${DEFAULT-VALUE}.")
  int valueBytes = 100;

  @Option(
      names = "--depth",
      paramLabel = "N",
      description = "Reads under way at a time: 1 to 64. Default: ${DEFAULT-VALUE}.")
  int depth = 32;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      converter = Converters.OfSeconds.class,
      description = "How long each slice takes. Default: 5.")
  Duration duration = Duration.ofSeconds(5);

  @Option(
      names = "--rounds",
      paramLabel = "R",
      description = "How often store and fio take turns. Default: ${DEFAULT-VALUE}.")
  int rounds = 5;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "On the disk to measure. Default: faster-bench-disk in the user's home.")
  Path directory = Path.of(System.getProperty("user.home", "."), "faster-bench-disk");

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write an array with an object for each row, too.")
  @Nullable Path json;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  boolean help;

  @Spec @Nullable CommandSpec spec;

  /** A row of the JSON file; 0 where there is no fio. */
  record JsonRow(
      String row,
      String unit,
      double store,
      double fio,
      double ratio,
      double ratioMin,
      double ratioMax) {}

  @Override
  public Integer call() throws IOException {
    Ranges.check(spec, dataBytes >= 64L << 20, "--data", dataBytes, "64m and more");
    Ranges.check(
        spec, valueBytes >= 8 && valueBytes <= 1 << 16, "--value-bytes", valueBytes, "8 to 65536");
    Ranges.check(spec, depth >= 1 && depth <= 64, "--depth", depth, "1 to 64");
    Ranges.check(spec, rounds >= 1 && rounds <= 1000, "--rounds", rounds, "1 to 1000");
    WorkDirectory work = WorkDirectory.create(directory);
    List<DiskRow> rows = new ArrayList<>();
    try {
      DiskRun run =
          new DiskRun(new DiskPlan(dataBytes, valueBytes, depth, duration, rounds, work.path()));
      if (!run.hasFio()) {
        System.err.println(Fio.HOW_TO_GET);
      }
      rows.add(run.reads());
      rows.add(run.writes());
    } finally {
      work.delete();
    }
    System.out.println(table(rows));
    if (json != null) {
      JsonFile.write(json, rows.stream().map(DiskCommand::jsonRow).toList());
    }
    return 0;
  }

  static String table(List<DiskRow> rows) {
    TextTable table = new TextTable("row", "unit", "store", "fio", "store/fio", "min", "max");
    for (DiskRow row : rows) {
      JsonRow numbers = jsonRow(row);
      boolean hasFio = !row.fio().isEmpty();
      table.add(
          row.name(),
          row.unit(),
          decimals(numbers.store),
          hasFio ? decimals(numbers.fio) : "-",
          hasFio ? decimals(numbers.ratio) : "-",
          hasFio ? decimals(numbers.ratioMin) : "-",
          hasFio ? decimals(numbers.ratioMax) : "-");
    }
    return table.toString();
  }

  private static JsonRow jsonRow(DiskRow row) {
    Spread ratio = row.ratio().orElse(new Spread(0, 0, 0));
    return new JsonRow(
        row.name(),
        row.unit(),
        Spread.of(row.store()).median(),
        row.fio().isEmpty() ? 0 : Spread.of(row.fio()).median(),
        ratio.median(),
        ratio.min(),
        ratio.max());
  }

  private static String decimals(double number) {
    return String.format(Locale.ROOT, "%.2f", number);
  }
}
