package io.fasterkv.bench.checkpoints;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ./bench checkpoints}. */
@Command(
    name = "checkpoints",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "Looks at the checkpoints in a store's directory; changes nothing.",
    description = {"", "No store may be open on the directory meanwhile.", ""},
    subcommands = {
      ListCommand.class,
      DescribeCommand.class,
      VerifyCommand.class,
      DumpCommand.class
    },
    footer = {
      "",
      "Exit codes: 0 all is well; 1 something is damaged, and is named with file and offset;"
          + " 2 bad arguments."
    })
public final class CheckpointsCommand implements Callable<Integer> {
  private static final int BAD_ARGUMENTS = 2;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  boolean help;

  @Spec @Nullable CommandSpec spec;

  /** Set by picocli. */
  public CheckpointsCommand() {}

  @Override
  public Integer call() {
    if (spec != null) {
      spec.commandLine().usage(spec.commandLine().getErr());
    }
    return BAD_ARGUMENTS;
  }
}
