package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.args.Converters;
import io.fasterkv.bench.args.Ranges;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options for how long to measure. */
public final class TimingOptions {
  /** Set by picocli. */
  public TimingOptions() {}

  @Option(
      names = "--seconds",
      paramLabel = "S",
      converter = Converters.OfSeconds.class,
      description = "How long each row is timed in each round. Default: 2.")
  Duration slice = Duration.ofSeconds(2);

  @Option(
      names = "--rounds",
      paramLabel = "R",
      description = "How often all rows take their turn: 1 to 1000. Default: ${DEFAULT-VALUE}.")
  int rounds = 5;

  @Option(
      names = "--warmup",
      paramLabel = "S",
      converter = Converters.OfSeconds.class,
      description = "How long each row runs before the first round. Default: 3.")
  Duration warmup = Duration.ofSeconds(3);

  @Option(
      names = "--stream",
      paramLabel = "N",
      converter = Converters.OfCount.class,
      description =
          "Keys made beforehand for each thread, which goes through them again and again: 1k to"
              + " 64m. Default: 4m.")
  long streamLength = 4_000_000;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Of the keys. Default: ${DEFAULT-VALUE}.")
  long seed = 1;

  @Spec(Spec.Target.MIXEE)
  @Nullable CommandSpec spec;

  /** The options, checked. */
  public Timing timing() {
    Ranges.between(spec, "--rounds", rounds, 1, 1000);
    Ranges.check(
        spec,
        streamLength >= 1_000 && streamLength <= 64_000_000,
        "--stream",
        streamLength,
        "1k to 64m");
    return new Timing(warmup, slice, rounds, Math.toIntExact(streamLength), seed);
  }
}
