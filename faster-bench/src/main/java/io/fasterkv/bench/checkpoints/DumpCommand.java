package io.fasterkv.bench.checkpoints;

import io.fasterkv.Checkpoints;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.api.checkpoint.DumpedRecord;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.Ranges;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./bench checkpoints dump}. */
@Command(
    name = "dump",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "The live records of a checkpoint as text; of the newest, unless one is named.",
    description = {
      "",
      "A line for each record, in address order: address, key and value, separated by tabs,"
          + " and \"delta\" after a value that is merged with the key's older ones. Longs"
          + " are decimal. Other keys and values are in quotes if they are printable UTF-8, else"
          + " hexadecimal after 0x. Keys are kept in memory: raise -Xmx in BENCH_JAVA_OPTIONS for"
          + " very many.",
      ""
    })
final class DumpCommand implements Callable<Integer>, JvmNeeds {
  private static final long HEAP_BYTES = 4L << 30;
  private static final int BETWEEN_LOOKS = 4096;

  @Mixin Choice choice = new Choice();

  @Option(
      names = "--limit",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "Stop after this many records. Default: all.")
  long limit = Long.MAX_VALUE;

  @Option(
      names = "--bytes",
      paramLabel = "N",
      description = "Show this many bytes of a key or value, 1 or more. Default: ${DEFAULT-VALUE}.")
  int bytes = 256;

  @Option(names = "--hex", description = "Show all but longs hexadecimal.")
  boolean isHex;

  @Spec @Nullable CommandSpec spec;

  private long shown;

  /** Set by picocli. */
  DumpCommand() {}

  /** Ends a dump early. */
  private static final class Enough extends RuntimeException {
    private static final long serialVersionUID = 1;

    Enough() {
      super("the limit is reached", null, false, false);
    }
  }

  @Override
  public List<String> jvmOptions() {
    return JvmNeeds.heap(HEAP_BYTES);
  }

  @Override
  public Integer call() {
    Ranges.check(spec, bytes >= 1, "--bytes", bytes, "1 and above");
    CheckpointToken token = choice.newest();
    Checkpoints checkpoints = choice.checkpoints();
    boolean isLongs = checkpoints.describe(token).recordKind() == RecordKind.LONGS;
    PrintWriter out = choice.out();
    try {
      checkpoints.dump(token, record -> show(record, isLongs, out));
    } catch (Enough e) {
      return 0;
    } finally {
      out.flush();
    }
    return 0;
  }

  private void show(DumpedRecord record, boolean isLongs, PrintWriter out) {
    // The reader of the output may have closed it.
    if (shown == limit || (shown % BETWEEN_LOOKS == 0 && out.checkError())) {
      throw new Enough();
    }
    shown++;
    out.print(record.address());
    out.print('\t');
    out.print(isLongs ? record.key().getLong(0) : Texts.of(record.key(), bytes, isHex));
    out.print('\t');
    out.print(isLongs ? record.value().getLong(0) : Texts.of(record.value(), bytes, isHex));
    out.println(record.isDelta() ? "\tdelta" : "");
  }
}
