package io.fasterkv.bench.disk;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.RoundsOption;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TableAtEnd;
import io.fasterkv.bench.report.TextTable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
  @Mixin DiskOptions options = new DiskOptions();

  @Option(
      names = "--seconds",
      paramLabel = "S",
      converter = Converters.OfSeconds.class,
      description = "How long each slice takes. Default: 5.")
  Duration duration = Duration.ofSeconds(5);

  @Mixin RoundsOption rounds = new RoundsOption(5);

  @Mixin DirectoryOption directory = DirectoryOption.onDisk();

  @Mixin OutputOptions output = new OutputOptions();

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
    List<DiskRow> rows = directory.inNew(work -> run(work.path()));
    output.write(rows.stream().map(DiskCommand::jsonRow).toList());
    return 0;
  }

  private List<DiskRow> run(Path path) throws IOException {
    DiskRun run = new DiskRun(options.plan(duration, rounds.rounds(), path));
    if (!run.hasFio()) {
      System.err.println(Fio.HOW_TO_GET);
    }
    try (TableAtEnd atEnd =
        TableAtEnd.of(() -> run.measured().isEmpty() ? "" : table(run.measured()))) {
      return List.of(run.reads(), run.writes(options.writeValueBytes(), options.writers()));
    }
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
