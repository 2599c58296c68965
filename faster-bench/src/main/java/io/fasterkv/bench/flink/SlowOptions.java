package io.fasterkv.bench.flink;

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

/** The options for measurements with slow storage. */
final class SlowOptions {
  private static final long QUICK_BYTES = 4 << 20;

  @Spec(Target.MIXEE)
  @Nullable CommandSpec spec;

  @Option(
      names = "--slow-bytes",
      paramLabel = "SIZE",
      converter = Converters.OfBytes.class,
      description = "Bytes of state whose checkpoints go to slow storage: 1m to 1t. Default: 512m.")
  long stateBytes = 512L << 20;

  @Option(
      names = "--slow-memory",
      paramLabel = "SIZE",
      converter = Converters.OfBytes.class,
      description = "Managed memory of a backend with that state: 1m to 1t. Default: 128m.")
  long memoryBytes = 128L << 20;

  @Option(
      names = "--slow-values",
      paramLabel = "BYTES,...",
      split = ",",
      hideParamSyntax = true,
      description =
          "Bytes of a value in that state, one run for each: 8 to 1000000. Default: 1000,100.")
  List<Integer> valueBytes = List.of(1_000, 100);

  @Option(
      names = "--slow-settle",
      paramLabel = "SECONDS",
      description =
          "Seconds without a read of the storage until a restored backend counts as steady:"
              + " 1 to 3600. Default: ${DEFAULT-VALUE}.")
  int settleSeconds = 5;

  /**
   * Returns one plan for each length of values, with the backends and rounds of the other
   * checkpoints.
   */
  List<SlowPlan> plans(LargePlan large, boolean isQuick) {
    checkSize("--slow-bytes", stateBytes);
    checkSize("--slow-memory", memoryBytes);
    Ranges.between(spec, "--slow-settle", settleSeconds, 1, 3600);
    return valueBytes.stream().map(bytes -> plan(large, bytes, isQuick)).toList();
  }

  private SlowPlan plan(LargePlan large, int bytes, boolean isQuick) {
    Ranges.between(spec, "--slow-values", bytes, Long.BYTES, 1_000_000);
    return new SlowPlan(
        new LargePlan(
            large.backends(),
            isQuick ? QUICK_BYTES : stateBytes,
            bytes,
            isQuick ? 4 * QUICK_BYTES : memoryBytes,
            large.rounds(),
            large.repeatedPercent(),
            large.compression()),
        TimeUnit.SECONDS.toNanos(isQuick ? 1 : settleSeconds));
  }

  private void checkSize(String option, long bytes) {
    Ranges.check(spec, bytes >= 1 << 20 && bytes <= 1L << 40, option, bytes, "1m to 1t");
  }

  static FlinkPart<SlowResult> part(List<SlowPlan> plans) {
    List<FlinkPart.Run<SlowResult>> runs = new ArrayList<>();
    for (SlowPlan plan : plans) {
      runs.add((work, progress) -> new SlowRun(plan, work).run(progress));
    }
    return new FlinkPart<>(runs, plans.stream().mapToInt(SlowRun::steps).sum(), SlowReport::new);
  }
}
