package io.fasterkv.bench.args;

import io.fasterkv.bench.report.JsonFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of every measuring command for its output. */
public final class OutputOptions {
  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write an array with an object for each row, too.")
  @Nullable Path json;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  boolean help;

  /** Set by picocli. */
  public OutputOptions() {}

  /** Writes the rows to the file, if the user wants one. */
  public void write(List<?> rows) throws IOException {
    if (json != null) {
      JsonFile.write(json, rows);
    }
  }
}
