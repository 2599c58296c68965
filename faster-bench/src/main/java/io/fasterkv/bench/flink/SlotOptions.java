package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.Ranges;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The options for operators that share a slot. */
final class SlotOptions {
  private static final long LEAST_BYTES = 128L << 20;
  private static final int QUICK_DIVISOR = 100;
  private static final long QUICK_NANOS = 10_000_000;

  @Spec(Target.MIXEE)
  @Nullable CommandSpec spec;

  @Option(
      names = "--slot-memory",
      paramLabel = "SIZE",
      converter = Converters.OfBytes.class,
      description = "Managed memory of the slot: 128m to 1t. Default: 128m.")
  long memoryBytes = LEAST_BYTES;

  @Option(
      names = "--slot-seconds",
      paramLabel = "SECONDS",
      description = "Duration of a turn: 1 to 3600. Default: ${DEFAULT-VALUE}.")
  int seconds = 10;

  private SlotPlan plan(List<Backend> backends, int rounds, boolean isQuick) {
    Ranges.check(
        spec,
        memoryBytes >= LEAST_BYTES && memoryBytes <= 1L << 40,
        "--slot-memory",
        memoryBytes,
        "128m to 1t");
    Ranges.between(spec, "--slot-seconds", seconds, 1, 3600);
    return isQuick
        ? new SlotPlan(backends, LEAST_BYTES, QUICK_DIVISOR, QUICK_NANOS, rounds)
        : new SlotPlan(backends, memoryBytes, 1, TimeUnit.SECONDS.toNanos(seconds), rounds);
  }

  /** All rows on backends that use managed memory. */
  FlinkPart<SlotResult> part(List<Backend> backends, int rounds, boolean isQuick) {
    SlotPlan plan = plan(backends, rounds, isQuick);
    return new FlinkPart<>(
        List.of((work, progress) -> new SlotRun(plan, work).run(progress)),
        SlotRun.steps(plan),
        SlotReport::new);
  }
}
