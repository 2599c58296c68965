package io.fasterkv.demo;

import io.fasterkv.bench.args.BackendOption;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.SavepointFormatType;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command line, filled in once by picocli. */
@Command(
    name = "demo",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "Counts the words of real text in a Flink job, and proves the counts.",
    description = {
      "",
      "An embedded Flink keeps a count, files, first occurrences, windows and aggregates for every"
          + " word. It takes checkpoints all the time, loses a task half way, recovers, is stopped"
          + " with a savepoint at three quarters, resumes at another parallelism and reads on to"
          + " the end. Then every result is compared with a plain count in memory.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 all counts right, 1 differences or a failed job, 2 bad arguments.",
      "A word is a letter with the letters, digits and underscores that follow it, in lower case."
    })
final class DemoOptions {
  /** The smallest input that still has a first half, a third quarter and a rest. */
  static final long LEAST_WORDS = 100;

  @Mixin BackendOption backend = new BackendOption();

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      converter = ArgumentConverters.OfMemory.class,
      description =
          "Memory for the state, over all slots: 1m to 1t. More state than this goes to disk."
              + " hashmap ignores it and keeps everything on the heap. Default: ${DEFAULT-VALUE}.")
  MemorySize memory = MemorySize.ofMebiBytes(256);

  @Option(
      names = "--input",
      paramLabel = "PATH",
      description =
          "The text: a file, a directory or a zip file. Default: lib/src.zip of the JDK that runs"
              + " the demo.")
  @Nullable Path input;

  @Option(
      names = "--words",
      paramLabel = "N",
      converter = ArgumentConverters.OfWords.class,
      description =
          "Read at most this many words: 100 or more, 500k, 4m, or all. Default: ${DEFAULT-VALUE}.")
  long words = 4_000_000;

  @Option(
      names = "--parallelism",
      paramLabel = "N",
      converter = ArgumentConverters.OfParallelism.class,
      description = "Subtasks up to the savepoint: 1 to 128. Default: ${DEFAULT-VALUE}.")
  int parallelism = 2;

  @Option(
      names = "--resume-parallelism",
      paramLabel = "N",
      converter = ArgumentConverters.OfParallelism.class,
      description = "Subtasks after the savepoint: 1 to 128. Default: ${DEFAULT-VALUE}.")
  int resumeParallelism = 3;

  @Option(
      names = "--checkpoint-interval",
      paramLabel = "TIME",
      converter = ArgumentConverters.OfInterval.class,
      description = "Time between checkpoints: 10ms to 1h. Default: 500ms.")
  Duration checkpointInterval = Duration.ofMillis(500);

  @Option(
      names = "--savepoint-format",
      paramLabel = "FORMAT",
      converter = ArgumentConverters.OfFormat.class,
      description =
          "canonical, which every backend can read, or native, the backend's own. Default:"
              + " canonical.")
  SavepointFormatType savepointFormat = SavepointFormatType.CANONICAL;

  @Option(
      names = "--checkpoint-rows",
      paramLabel = "N",
      converter = ArgumentConverters.OfRows.class,
      description =
          "Rows in the table of checkpoints, spread evenly; 0 for every checkpoint. Default:"
              + " ${DEFAULT-VALUE}.")
  int checkpointRows = 24;

  @Option(
      names = "--work-dir",
      paramLabel = "DIR",
      description =
          "Where checkpoints, savepoints, state on disk and the log go, each run in a directory of"
              + " its own. Default: faster-demo-USER in the system's directory for temporary"
              + " files.")
  Path workDir =
      Path.of(
          System.getProperty("java.io.tmpdir", "."),
          "faster-demo-" + System.getProperty("user.name", "user"));

  @Option(
      names = "--keep",
      description =
          "Keep the run's directory when the demo ends. Without it, only a run that"
              + " failed keeps its directory, until the next start.")
  boolean keep;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  boolean help;
}
