package io.fasterkv.bench.args;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option for how often a measurement is repeated. */
public final class RoundsOption {
  @Option(
      names = "--rounds",
      paramLabel = "R",
      description = "How often all rows take their turn: 1 to 1000. Default: ${DEFAULT-VALUE}.")
  int rounds;

  @Spec(Spec.Target.MIXEE)
  @Nullable CommandSpec spec;

  public RoundsOption(int rounds) {
    this.rounds = rounds;
  }

  /** The rounds, checked. */
  public int rounds() {
    Ranges.between(spec, "--rounds", rounds, 1, 1000);
    return rounds;
  }
}
