package io.fasterkv.bench.runs;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.JvmNeeds;
import io.fasterkv.bench.args.QuickOption;
import io.fasterkv.bench.args.Ranges;
import io.fasterkv.bench.args.RoundsOption;
import io.fasterkv.bench.events.Share;
import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobSuite;
import io.fasterkv.bench.job.StateBackend;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options for the runs of jobs. */
public final class JobOptions {
  /** Heap bytes for each event kept in the state, on the heap backend. */
  private static final long HEAP_BYTES_PER_EVENT = 1_500;

  private static final long HEAP_BYTES = 1L << 30;
  private static final long QUICK_EVENTS = 5_000;
  private static final long QUICK_CHECKPOINT_MILLIS = 200;

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
          "Managed memory, of all tasks together: a size such as 512m, or a share of the job's"
              + " state such as 10%%, which an extra run on rocksdb measures. Default: 512m. At"
              + " least 16m.")
  MemoryChoice memory = MemoryChoice.of("512m");

  @Option(
      names = "--rate",
      paramLabel = "N",
      converter = RateChoice.Converter.class,
      description =
          "Events a second: a number, or a share of rocksdb's highest throughput such as 70%%,"
              + " which an extra run as fast as possible measures. The latency is measured from"
              + " the time at which an event is due, so waits count. Default: as fast as possible,"
              + " without latency.")
  RateChoice rate = RateChoice.NONE;

  @Option(
      names = "--failures",
      paramLabel = "SHARE,...",
      split = ",",
      hideParamSyntax = true,
      description =
          "Make a task fail after each of these shares of the events, in ascending order, such as"
              + " 0.6. Default: none.")
  List<Double> failures = List.of();

  @Option(
      names = "--warm-up",
      paramLabel = "SHARE",
      description =
          "The share of the events that counts as warm-up: 0 to 0.9. Default: ${DEFAULT-VALUE}.")
  double warmUp = 0.3;

  @Option(
      names = "--checkpoint-interval",
      paramLabel = "SECONDS",
      converter = Converters.OfSeconds.class,
      description = "Seconds from one checkpoint to the next: 0.05 to 3600. Default: 2.")
  Duration interval = Duration.ofSeconds(2);

  @Option(
      names = "--disorder",
      paramLabel = "N",
      description =
          "Shuffle the events within groups of this many: 1, no shuffling, to 952. Default:"
              + " ${DEFAULT-VALUE}.")
  int disorder = 1;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of the events. Default: ${DEFAULT-VALUE}.")
  long seed = 1;

  @Option(
      names = "--cluster",
      description =
          "Run each job on a job manager and task managers, one or two, in JVMs of their own,"
              + " instead of a cluster in one JVM. Processor time and memory are sums over them.")
  boolean isCluster;

  @Option(
      names = "--profile",
      paramLabel = "DIR",
      description =
          "Write a JFR recording of each run to this directory, and show the hottest frames of the"
              + " backend and the store. Recording costs time.")
  @Nullable Path profiles;

  @Mixin QuickOption quick = new QuickOption();

  @Option(
      names = "--falsify",
      hidden = true,
      converter = BackendConverter.class,
      description = "Let a backend lose one write of fifty, which must be noticed.")
  @Nullable StateBackend falsify;

  @Spec(Spec.Target.MIXEE)
  @Nullable CommandSpec spec;

  /** Set by picocli. */
  public JobOptions() {}

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
  public List<String> jvmOptions() {
    return JvmNeeds.heap(HEAP_BYTES + events() * HEAP_BYTES_PER_EVENT);
  }

  private long events() {
    return quick.isQuick() ? QUICK_EVENTS : events;
  }

  /** The runs of some jobs of a suite. */
  RunPlan plan(JobSuite suite, List<? extends BenchJob> jobs) {
    checkRanges();
    JobPlan base =
        new JobPlan(
            jobs.getFirst(),
            backends.getFirst(),
            new JobPlan.Input(events(), seed, disorder),
            new JobPlan.Cluster(parallelism, 0, isCluster),
            new JobPlan.Pace(0, warmUp),
            List.copyOf(failures),
            quick.isQuick() ? QUICK_CHECKPOINT_MILLIS : interval.toMillis(),
            false);
    return new RunPlan(
        suite,
        List.copyOf(jobs),
        List.copyOf(backends),
        memory,
        rate,
        base,
        new RunPlan.Mode(
            quick.isQuick(), quick.isQuick() ? 1 : rounds.rounds(), falsify, profiles));
  }

  private void checkRanges() {
    if (isCluster && profiles != null) {
      throw Ranges.refusal(
          spec, "--profile records the process that measures, which does no work with --cluster");
    }
    check(events >= 1_000 && events <= 1_000_000_000, "--events", events, "1k to 1g");
    check(parallelism >= 1 && parallelism <= 128, "--parallelism", parallelism, "1 to 128");
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
  }

  private void check(boolean isAllowed, String name, Object value, String range) {
    Ranges.check(spec, isAllowed, name, value, range);
  }
}
