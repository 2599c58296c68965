package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.Ranges;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The options of the rows of Flink's benchmarks. */
final class RowOptions {
  /** Objects of a map of ten entries with its key, twice. */
  private static final long HEAP_BYTES_PER_KEY = 5_000;

  private static final int QUICK_KEYS = 2_000;
  private static final long WARM_NANOS = 2_000_000_000L;

  @Spec(Target.MIXEE)
  @Nullable CommandSpec spec;

  @Option(
      names = "--suites",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      converter = SuiteConverter.class,
      description =
          "One or more of value, list, long-list, map, ttl-value, ttl-list, ttl-long-list, ttl-map."
              + " Default: those without ttl.")
  List<Suite> suites = List.of(Suite.VALUE, Suite.LIST, Suite.LONG_LIST, Suite.MAP);

  @Option(
      names = "--rows",
      paramLabel = "NAME,...",
      split = ",",
      hideParamSyntax = true,
      description = "Only these: one or more of ${COMPLETION-CANDIDATES}. Default: all.")
  List<StateRow> rows = List.of(StateRow.values());

  @Option(
      names = "--memory",
      paramLabel = "SIZE,...",
      split = ",",
      hideParamSyntax = true,
      converter = MemorySetting.Converter.class,
      description =
          "Managed memory of a backend, such as 512m; tenth is a tenth of the state. Default:"
              + " 2g, in which all that is written fits, and tenth.")
  List<MemorySetting> memory =
      List.of(MemorySetting.of("2g"), MemorySetting.of(MemorySetting.TENTH));

  @Option(
      names = "--keys",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description = "Set-up keys, and as many new ones: 100 to 16m. Default: 500k.")
  long keys = 500_000;

  @Option(
      names = "--calls",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description =
          "Calls of a row in a slice at most, up to the number of keys; fewer where the slowest"
              + " backend needs some seconds for them. Default: the number of keys.")
  long calls;

  @Option(
      names = "--turn",
      paramLabel = "SECONDS",
      description =
          "How long a backend is measured in a turn, at least, after as long a time that does not"
              + " count, and three times as long where a row overwrites, appends or removes: 1 to"
              + " 3600. Default: ${DEFAULT-VALUE}.")
  int turnSeconds = 1;

  @Option(
      names = "--clock",
      paramLabel = "CLOCK",
      description =
          "wall, or cpu: what the calling thread has of a processor, which is steadier where others"
              + " use the machine, and leaves out threads in the background. Default:"
              + " ${DEFAULT-VALUE}.")
  Clock clock = Clock.wall;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Of keys and values. Default: ${DEFAULT-VALUE}.")
  long seed = 1;

  long heapBytes() {
    return keys * HEAP_BYTES_PER_KEY;
  }

  FlinkPlan plan(List<Backend> backends, int rounds, boolean isQuick) {
    Ranges.check(spec, keys >= 100 && keys <= 16_000_000, "--keys", keys, "100 to 16m");
    Ranges.check(spec, calls >= 0 && calls <= keys, "--calls", calls, "up to " + keys);
    Ranges.between(spec, "--turn", turnSeconds, 1, 3600);
    int number = isQuick ? QUICK_KEYS : (int) keys;
    return new FlinkPlan(
        List.copyOf(backends),
        number,
        number,
        calls == 0 || isQuick ? number : (int) calls,
        isQuick ? 0 : WARM_NANOS,
        isQuick ? 0 : TimeUnit.SECONDS.toNanos(turnSeconds),
        isQuick ? 2 : rounds,
        clock,
        seed);
  }

  /** Returns the rows of every suite with every amount of memory. */
  FlinkPart<StateResult> part(FlinkPlan plan) {
    List<FlinkPart.Run<StateResult>> runs = new ArrayList<>();
    int steps = 0;
    for (MemorySetting setting : memory) {
      for (Suite suite : suites) {
        StateRun run = new StateRun(plan, suite, setting, rows);
        steps += run.steps();
        runs.add(run::run);
      }
    }
    return new FlinkPart<>(runs, steps, results -> new StateReport(plan, results));
  }
}
