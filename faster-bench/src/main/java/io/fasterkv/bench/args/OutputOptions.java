package io.fasterkv.bench.args;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What every measuring command can do besides measuring. */
public final class OutputOptions {
  /** Where the rows go besides the screen, or null. */
  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write an array with an object for each row, too.")
  public @Nullable Path json;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  boolean help;

  /** Set by picocli. */
  public OutputOptions() {}
}
