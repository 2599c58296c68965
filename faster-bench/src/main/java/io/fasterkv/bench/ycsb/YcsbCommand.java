package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.report.TableAtEnd;
import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./bench ycsb}. */
@Command(
    name = "ycsb",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "Stores side by side: operations a second on keys of 8 bytes.",
    description = {
      "",
      "Loads each store and checks it, warms up, then times the rows in turn, round after round,"
          + " and checks the stores again. Every combination of store, workload, distribution,"
          + " threads and batch is a row. The table shows medians over the rounds with the lowest"
          + " and the highest, in millions of operations a second.",
      ""
    },
    footer = {"", "Exit codes: 0 measured, 1 a wrong answer or a failure, 2 bad arguments."})
public final class YcsbCommand implements Callable<Integer>, JvmNeeds {
  private static final long BYTES_PER_STREAM_KEY = 3 * Long.BYTES;

  @Option(
      names = "--stores",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = Converters.OfStore.class,
      description =
          "faster; faster-append, whose updates all append; faster-memory, without a disk; chm, a"
              + " ConcurrentHashMap; agrona, its"
              + " primitive maps behind lock stripes; ceiling, the same memory accesses over plain"
              + " arrays. Default: faster,chm,agrona.")
  List<StoreKind> stores = List.of(StoreKind.FASTER, StoreKind.CHM, StoreKind.AGRONA);

  @Option(
      names = "--workload",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = Converters.OfWorkload.class,
      description = "One or more of " + Workload.LABELS + ". Default: rmw.")
  List<Workload> workloads = List.of(Workload.RMW);

  @Option(
      names = "--distribution",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = Converters.OfDistribution.class,
      description =
          "uniform; zipf with theta 0.99; hotset, nine in ten on a fifth of the keys, which moves."
              + " Default: uniform.")
  List<Distribution> distributions = List.of(Distribution.UNIFORM);

  @Mixin DataOptions data = new DataOptions();

  @Mixin DirectoryOption directory = DirectoryOption.temporary();

  @Option(
      names = "--threads",
      paramLabel = "N,...",
      split = ",",
      hideParamSyntax = true,
      description = "Threads, each with a session of its own. Default: 1.")
  List<Integer> threads = List.of(1);

  @Option(
      names = "--batch",
      paramLabel = "N,...",
      split = ",",
      hideParamSyntax = true,
      description =
          "Operations handed to the store at a time. Stores without batches run one at a time."
              + " Default: 1.")
  List<Integer> batches = List.of(1);

  @Mixin TimingOptions timing = new TimingOptions();

  @Mixin OutputOptions output = new OutputOptions();

  @Spec @Nullable CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    List<String> notes = new ArrayList<>();
    List<RowSpec> rows = rows(notes);
    notes.forEach(System.err::println);
    if (rows.isEmpty()) {
      throw Ranges.refusal(spec, "no row is left to measure");
    }
    List<RowResult> results =
        directory.inNew(work -> {
          YcsbRun run = new YcsbRun(data.data(), timing.timing(), rows, work.path());
          try (TableAtEnd atEnd = YcsbReport.atEnd(run)) {
            return run.run();
          }
        });
    output.write(YcsbReport.rows(results, data.data()));
    return 0;
  }

  /**
   * Returns all combinations, except those that a store does not support, which are added to {@code
   * notes}.
   */
  List<RowSpec> rows(List<String> notes) {
    checkCounts();
    Set<RowSpec> rows = new LinkedHashSet<>();
    Set<String> told = new LinkedHashSet<>();
    for (Workload workload : workloads) {
      for (Distribution distribution : distributions) {
        for (int thread : threads) {
          for (int batch : batches) {
            for (StoreKind store : stores) {
              RowSpec row = new RowSpec(store, workload, distribution, thread, batch);
              add(row, rows, told);
            }
          }
        }
      }
    }
    notes.addAll(told);
    return List.copyOf(rows);
  }

  private void add(RowSpec row, Set<RowSpec> rows, Set<String> told) {
    StoreKind store = row.store();
    String refusal = store.refusal(row.workload(), data.valueBytes, row.threads());
    if (!refusal.isEmpty()) {
      told.add("left out: " + row.label() + ": " + refusal);
    } else if (row.batch() > 1 && !store.hasBatches()) {
      told.add(store.label() + " has no batches: it is measured one at a time, as batch=1");
      rows.add(new RowSpec(store, row.workload(), row.distribution(), row.threads(), 1));
    } else {
      rows.add(row);
    }
  }

  private void checkCounts() {
    Ranges.check(
        spec,
        threads.stream().allMatch(count -> count >= 1 && count <= 256),
        "--threads",
        threads,
        "1 to 256");
    Ranges.check(
        spec,
        batches.stream().allMatch(count -> count >= 1 && count <= 1024),
        "--batch",
        batches,
        "1 to 1024");
  }

  @Override
  public List<String> jvmOptions() {
    long bytes = 0;
    for (StoreKind store : Set.copyOf(stores)) {
      bytes += store.heapBytes(data.keys, data.valueBytes);
    }
    long most = threads.stream().mapToInt(Integer::intValue).max().orElse(1);
    long streams = most * workloads.size() * distributions.size();
    return JvmNeeds.heap(bytes + streams * timing.streamLength * BYTES_PER_STREAM_KEY);
  }
}
