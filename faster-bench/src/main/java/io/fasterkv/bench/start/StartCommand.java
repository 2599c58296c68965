package io.fasterkv.bench.start;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.QuickOption;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.args.RoundsOption;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import io.fasterkv.bench.report.TableAtEnd;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code ./bench start}. */
@Command(
    name = "start",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "What the first second of a process costs.",
    description = {
      "",
      "Each subject starts in a new JVM; subjects take turns, round after round. The store and a"
          + " map of the JDK are used directly, the backends as a task uses them, without a job."
          + " Steps: the JVM up to main; the first store or backend opens; an RMW of each key, then"
          + " a read of each key, then both again; more of them open in the same process; a"
          + " checkpoint; a restore from it, and a read of each key. All counts are checked.",
      ""
    },
    footer = {
      "",
      "Columns: ms, median of the elapsed time, and its lowest and highest; cpu ms, processor time"
          + " of the process; compile ms, time of the JVM's compilers; classes, loaded by the step;"
          + " to heap, the ratio of the elapsed time to the map's or the heap backend's; to"
          + " rocksdb, to RocksDB's.",
      "",
      "Exit codes: 0 measured; 1 a wrong answer or a failure; 2 bad arguments."
    })
public final class StartCommand implements Callable<Integer>, JvmNeeds {
  private static final long HEAP_BYTES = 256L << 20;
  private static final int QUICK_CALLS = 2_000;

  @Option(
      names = "--subjects",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = SubjectConverter.class,
      description = "One or more of store, map, faster, hashmap, rocksdb. Default: all.")
  List<Subject> subjects = List.of(Subject.values());

  @Option(
      names = "--calls",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "Keys, each accessed once in a step: 1 to 1m. Default: 100k.")
  long calls = 100_000;

  @Option(
      names = "--stores",
      paramLabel = "N",
      description =
          "Stores or backends opened after the first: 1 to 64. Default: ${DEFAULT-VALUE}.")
  int stores = 8;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      converter = Converters.OfBytes.class,
      description = "Memory of each store or backend: 1m to 1t. Default: 32m.")
  long memoryBytes = 32L << 20;

  @Mixin RoundsOption rounds = new RoundsOption(5);

  @Mixin QuickOption quick = new QuickOption();

  @Mixin DirectoryOption directory = DirectoryOption.onDisk();

  @Mixin OutputOptions output = new OutputOptions();

  @Spec @Nullable CommandSpec spec;

  /** A subject's name. */
  static final class SubjectConverter implements ITypeConverter<Subject> {
    @Override
    public Subject convert(String value) {
      return Subject.named(value)
          .orElseThrow(() ->
              new TypeConversionException(
                  "'" + value + "' is not allowed, allowed=" + Subject.names()));
    }
  }

  /** The processes of the subjects have the options of this one. */
  @Override
  public List<String> jvmOptions() {
    return JvmNeeds.heap(HEAP_BYTES);
  }

  @Override
  public Integer call() throws IOException {
    Ranges.between(spec, "--calls", calls, 1, 1_000_000);
    Ranges.between(spec, "--stores", stores, 1, 64);
    Ranges.size(spec, "--memory", memoryBytes);
    StartPlan plan =
        new StartPlan(quick.isQuick() ? QUICK_CALLS : (int) calls, stores, memoryBytes);
    List<StartReport.Row> rows = new CopyOnWriteArrayList<>();
    int turns = quick.isQuick() ? 1 : rounds.rounds();
    directory.inNew(work -> {
      try (Progress progress = Progress.start("start", (long) turns * subjects.size());
          TableAtEnd atEnd = TableAtEnd.of(() -> new StartReport(rows).table())) {
        for (int round = 1; round <= turns; round++) {
          run(round, plan, work, progress, rows);
          output.write(rows);
        }
        return rows;
      }
    });
    return 0;
  }

  private void run(
      int round, StartPlan plan, WorkDirectory work, Progress progress, List<StartReport.Row> rows)
      throws IOException {
    List<Subject> turned = new ArrayList<>(subjects);
    Collections.rotate(turned, -round);
    for (Subject subject : turned) {
      progress.begin("round " + round + ", " + subject);
      Path ofProcess = work.directory("process");
      for (Cost cost : StartProcess.run(subject, plan, ofProcess)) {
        rows.add(new StartReport.Row(round, subject, cost));
      }
      work.delete(ofProcess);
      progress.step();
    }
  }
}
