package io.fasterkv.bench.checkpoints;

import io.fasterkv.Checkpoints;
import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.checkpoint.CheckpointToken;
import io.fasterkv.bench.args.Ranges;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Selects the checkpoints to inspect, and the output. */
final class Choice {
  @Option(
      names = "--directory",
      required = true,
      paramLabel = "DIR",
      description = "The directory of the store.")
  Path directory = Path.of("");

  @Option(
      names = "--number",
      paramLabel = "N",
      description = "One checkpoint, by its number, 1 or more. Default: see the command.")
  @Nullable Long number;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  boolean help;

  @Spec(Spec.Target.MIXEE)
  @Nullable CommandSpec spec;

  /** Set by picocli. */
  Choice() {}

  Checkpoints checkpoints() {
    return Checkpoints.of(directory);
  }

  /** The named checkpoint, or all of them, oldest first. */
  List<CheckpointToken> chosen() {
    Long one = number;
    if (one == null) {
      return checkpoints().tokens();
    }
    Ranges.check(spec, one >= 1, "--number", one, "1 and above");
    return List.of(new CheckpointToken(one));
  }

  /** The named checkpoint, or the newest. */
  CheckpointToken newest() {
    List<CheckpointToken> tokens = chosen();
    if (tokens.isEmpty()) {
      throw new BadConfig(
          "there is no checkpoint: directory="
              + directory
              + ", allowed=the directory of a store that has taken one");
    }
    return tokens.getLast();
  }

  /** Unlike a terminal's writer, it does not flush every line. */
  PrintWriter out() {
    return spec == null
        ? new PrintWriter(System.out, false, StandardCharsets.UTF_8)
        : new PrintWriter(spec.commandLine().getOut(), false);
  }
}
