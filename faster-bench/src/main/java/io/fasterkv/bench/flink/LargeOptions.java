package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.Ranges;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The options of checkpoints of large state. */
final class LargeOptions {
  private static final long QUICK_BYTES = 4 << 20;
  private static final long QUICK_MEMORY = 16 << 20;

  @Spec(Target.MIXEE)
  @Nullable CommandSpec spec;

  @Option(
      names = "--state-bytes",
      paramLabel = "SIZE",
      converter = Converters.OfBytes.class,
      description = "Of the state that checkpoints are taken of: 1m to 1t. Default: 5g.")
  long stateBytes = 5L << 30;

  @Option(
      names = "--state-memory",
      paramLabel = "SIZE",
      converter = Converters.OfBytes.class,
      description = "Managed memory of a backend with that state: 1m to 1t. Default: 1g.")
  long stateMemory = 1L << 30;

  @Option(
      names = "--repeated",
      paramLabel = "PERCENT",
      description =
          "Bytes of a value that are the same in all values of the part checkpoint, in runs of up"
              + " to 20; the others are random: 0 to 100. Default: ${DEFAULT-VALUE}.")
  int repeated;

  @Option(
      names = "--compression",
      arity = "1",
      paramLabel = "true|false",
      hideParamSyntax = true,
      description =
          "Sets Flink's execution.checkpointing.snapshot-compression for the part checkpoint."
              + " Default: not set, so each backend decides.")
  @Nullable Boolean compression;

  LargePlan plan(List<Backend> backends, int rounds, boolean isQuick) {
    Ranges.size(spec, "--state-bytes", stateBytes);
    Ranges.size(spec, "--state-memory", stateMemory);
    Ranges.between(spec, "--repeated", repeated, 0, 100);
    return new LargePlan(
        backends,
        isQuick ? QUICK_BYTES : stateBytes,
        LargePlan.VALUE_BYTES,
        isQuick ? QUICK_MEMORY : stateMemory,
        isQuick ? 2 : rounds,
        repeated,
        compression);
  }

  static FlinkPart<LargeResult> part(LargePlan plan) {
    return new FlinkPart<>(
        List.of((work, progress) -> new LargeRun(plan, work).run(progress)),
        LargeRun.steps(plan),
        results -> new LargeReport(plan, results));
  }
}
