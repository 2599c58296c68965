package io.fasterkv.bench.nexmark;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.OutputOptions;
import io.fasterkv.bench.args.QuickOption;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.args.RoundsOption;
import io.fasterkv.bench.nexmark.events.Share;
import io.fasterkv.bench.nexmark.job.JobPlan;
import io.fasterkv.bench.nexmark.job.Query;
import io.fasterkv.bench.nexmark.job.StateBackend;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code ./bench nexmark}. */
@Command(
    name = "nexmark",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "The queries of Nexmark, as Flink SQL jobs, on several state backends.",
    description = {
      "",
      "Each run is a job on a cluster in a process of its own, with checkpoints; backends take"
          + " turns, query after query and round after round. A source of this project creates the"
          + " events with Nexmark's published distributions; the sink counts the rows of the result"
          + " and keeps a hash that does not depend on their order. Runs with different results"
          + " fail the benchmark (q12 has windows of processing time: its results are not"
          + " compared). The tables show medians over the rounds, ratios within the rounds, and"
          + " geometric means of the ratios over the stateful queries. With --quick a run has 5,000"
          + " events, and a backend's runs share a process.",
      ""
    },
    footer = {
      "",
      "Columns: k events/s, thousands of events a second after the warm-up, up to the first failure"
          + " or the end; first s, from submission until the source has emitted 100,000 events;"
          + " recovery s, from a failure to 90 %% of the throughput before it; p50, p99, p99.9 ms,"
          + " from the time at which an event was due until the sink (with --rate); cpu us,"
          + " processor time of the process for an event; first cpu s, that of the first 300,000"
          + " events; cp ms, a checkpoint; sync ms, the longest synchronous phase of a task; cp MB,"
          + " what a checkpoint wrote; full MB, the state of the newest checkpoint; files, of all"
          + " checkpoints kept; RSS MB, resident memory of the process at most.",
      "",
      "Exit codes: 0 measured; 1 different results or a failure; 2 bad arguments."
    })
public final class NexmarkCommand implements Callable<Integer>, JvmNeeds {
  /** Heap bytes for each event kept in the state, on the heap backend. */
  private static final long HEAP_BYTES_PER_EVENT = 1_500;

  private static final long HEAP_BYTES = 1L << 30;
  private static final long QUICK_EVENTS = 5_000;
  private static final long QUICK_CHECKPOINT_MILLIS = 200;

  @Option(
      names = "--queries",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = QueryConverter.class,
      description = "One or more of q0 to q23, without q6. Default: all.")
  List<Query> queries = List.of(Query.values());

  @Option(
      names = "--backends",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = BackendConverter.class,
      description = "One or more of faster, hashmap, rocksdb, forst. Default: all.")
  List<StateBackend> backends = List.of(StateBackend.values());

  @Option(
      names = "--events",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "Events of a run: 1k to 1g. Default: 2m.")
  long events = 2_000_000;

  @Mixin RoundsOption rounds = new RoundsOption(3);

  @Option(
      names = "--parallelism",
      paramLabel = "N",
      description = "Tasks of each operator: 1 to 128. Default: ${DEFAULT-VALUE}.")
  int parallelism = 2;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      converter = MemoryChoice.Converter.class,
      description =
          "Managed memory, of all tasks together: a size such as 512m, or a share of the query's"
              + " state such as 10%%, which an extra run on rocksdb measures. Default: 512m. At"
              + " least 16m.")
  MemoryChoice memory = MemoryChoice.of("512m");

  @Option(
      names = "--rate",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description =
          "Events a second; the latency is measured from the time at which an event is due, so"
              + " waits count. Default: as fast as possible, without latency.")
  long rate;

  @Option(
      names = "--failures",
      paramLabel = "SHARE,...",
      split = ",",
      hideParamSyntax = true,
      description =
          "Fail a task on purpose, after these shares of the events, ascending, such as 0.6."
              + " Default: none.")
  List<Double> failures = List.of();

  @Option(
      names = "--warm-up",
      paramLabel = "SHARE",
      description =
          "The share of the events before the steady state: 0 to 0.9. Default: ${DEFAULT-VALUE}.")
  double warmUp = 0.3;

  @Option(
      names = "--checkpoint-interval",
      paramLabel = "SECONDS",
      converter = Converters.OfSeconds.class,
      description = "From one checkpoint to the next: 0.05 to 3600. Default: 2.")
  Duration interval = Duration.ofSeconds(2);

  @Option(
      names = "--disorder",
      paramLabel = "N",
      description =
          "Change the order within groups of so many events: 1, none, to 952. Default:"
              + " ${DEFAULT-VALUE}.")
  int disorder = 1;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Of the events. Default: ${DEFAULT-VALUE}.")
  long seed = 1;

  @Mixin QuickOption quick = new QuickOption();

  @Option(
      names = "--falsify",
      hidden = true,
      converter = BackendConverter.class,
      description = "Falsify the results of a backend, which must be noticed.")
  @Nullable StateBackend falsify;

  @Option(names = "--csv", paramLabel = "FILE", description = "Write a line for each run, too.")
  @Nullable Path csv;

  @Mixin DirectoryOption directory = DirectoryOption.onDisk();

  @Mixin OutputOptions output = new OutputOptions();

  @Spec @Nullable CommandSpec spec;

  /** A query's name. */
  static final class QueryConverter implements ITypeConverter<Query> {
    @Override
    public Query convert(String value) {
      return Query.named(value)
          .orElseThrow(() ->
              new TypeConversionException(
                  "'" + value + "' is not allowed, allowed=q0 to q23, without q6"));
    }
  }

  /** A backend's name. */
  static final class BackendConverter implements ITypeConverter<StateBackend> {
    @Override
    public StateBackend convert(String value) {
      return StateBackend.named(value)
          .orElseThrow(() ->
              new TypeConversionException(
                  "'" + value + "' is not allowed, allowed=" + StateBackend.names()));
    }
  }

  /** The processes of the runs have the options of this one. */
  @Override
  public List<String> jvmOptions() {
    return JvmNeeds.heap(
        HEAP_BYTES + (quick.isQuick() ? QUICK_EVENTS : events) * HEAP_BYTES_PER_EVENT);
  }

  @Override
  public Integer call() throws Exception {
    NexmarkPlan plan = plan();
    WorkDirectory work = WorkDirectory.create(directory.path());
    AtomicBoolean isOver = new AtomicBoolean();
    try (Progress progress = Progress.start("nexmark", plan.runs())) {
      NexmarkRun run = new NexmarkRun(plan, work, progress);
      Thread hook = new Thread(() -> interrupted(run, isOver), "nexmark-interrupted");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        run.run(() -> write(run));
      } finally {
        print(run, isOver);
        work.delete();
      }
    }
    return 0;
  }

  private static void interrupted(NexmarkRun run, AtomicBoolean isOver) {
    print(run, isOver);
    run.abort();
  }

  /** Prints the tables once: at the end, or when the process is interrupted before. */
  private static void print(NexmarkRun run, AtomicBoolean isOver) {
    if (isOver.compareAndSet(false, true) && !run.rows().isEmpty()) {
      NexmarkReport report = new NexmarkReport(run.rows());
      System.out.println(report.table());
      String means = report.means();
      if (means.contains("x")) {
        System.out.println();
        System.out.println("Geometric means of the ratios over the stateful queries");
        System.out.println(means);
      }
    }
  }

  private void write(NexmarkRun run) throws IOException {
    NexmarkReport report = new NexmarkReport(run.rows());
    output.write(report.json());
    if (csv != null) {
      report.writeCsv(csv);
    }
  }

  private NexmarkPlan plan() {
    check(events >= 1_000 && events <= 1_000_000_000, "--events", events, "1k to 1g");
    check(parallelism >= 1 && parallelism <= 128, "--parallelism", parallelism, "1 to 128");
    check(rate >= 0 && rate <= 1_000_000_000, "--rate", rate, "1 to 1g");
    check(warmUp >= 0 && warmUp <= 0.9, "--warm-up", warmUp, "0 to 0.9");
    check(
        disorder >= 1 && disorder <= Share.MOST_DISORDER,
        "--disorder",
        disorder,
        "1 to " + Share.MOST_DISORDER);
    check(
        interval.toMillis() >= 50 && interval.toSeconds() <= 3600,
        "--checkpoint-interval",
        interval.toMillis() / 1e3,
        "0.05 to 3600");
    double before = 0;
    for (double share : failures) {
      check(share > before && share < 1, "--failures", share, "above " + before + ", below 1");
      before = share;
    }
    JobPlan base =
        new JobPlan(
            queries.getFirst(),
            backends.getFirst(),
            new JobPlan.Input(quick.isQuick() ? QUICK_EVENTS : events, seed, disorder),
            parallelism,
            0,
            new JobPlan.Pace(rate, warmUp),
            List.copyOf(failures),
            quick.isQuick() ? QUICK_CHECKPOINT_MILLIS : interval.toMillis(),
            false);
    return new NexmarkPlan(
        List.copyOf(queries),
        List.copyOf(backends),
        quick.isQuick() ? 1 : rounds.rounds(),
        memory,
        base,
        new NexmarkPlan.Mode(quick.isQuick(), falsify));
  }

  private void check(boolean isAllowed, String name, Object value, String range) {
    Ranges.check(spec, isAllowed, name, value, range);
  }
}
