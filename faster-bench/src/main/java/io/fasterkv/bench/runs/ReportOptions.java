package io.fasterkv.bench.runs;

import io.fasterkv.bench.args.DirectoryOption;
import io.fasterkv.bench.args.OutputOptions;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options for what the runs of jobs write. */
public final class ReportOptions {
  /** The footer that explains the tables' columns. */
  public static final String COLUMNS =
      "Columns: k events/s, thousands of events a second after the warm-up, up to the first failure"
          + " or the end; first s, from submission until the source has emitted 100,000 events;"
          + " recovery s, from a failure to 90 %% of the throughput before it; p50, p99, p99.9 ms,"
          + " from the time at which an event was due until the sink (with --rate); cpu us,"
          + " processor time of the cluster's processes for an event; first cpu s, that of the"
          + " first 300,000 events; RSS MB, peak resident memory, the sum over those processes; cp"
          + " ms, duration of a checkpoint; sync ms, the longest synchronous phase of a task; cp"
          + " MB, what a checkpoint wrote; full MB, the state of the newest checkpoint; files, in"
          + " all retained checkpoints.";

  /** The footer that explains the exit codes. */
  public static final String EXIT_CODES =
      "Exit codes: 0 measured; 1 different results or a failure; 2 bad arguments.";

  @Option(
      names = "--csv",
      paramLabel = "FILE",
      description = "Also write a CSV file with a line for each run.")
  @Nullable Path csv;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Also write one HTML file with tables and plots.")
  @Nullable Path html;

  @Mixin DirectoryOption directory = DirectoryOption.onDisk();

  @Mixin OutputOptions output = new OutputOptions();

  /** Set by picocli. */
  public ReportOptions() {}

  /** Where the runs have their files. */
  DirectoryOption directory() {
    return directory;
  }

  /** Writes the files that the user wants. */
  void write(RunReport report) throws IOException {
    output.write(report.json());
    if (csv != null) {
      report.writeCsv(csv);
    }
    if (html != null) {
      report.writePage(html);
    }
  }
}
