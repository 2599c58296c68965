package io.fasterkv.bench;

import io.fasterkv.api.StoreException.BadConfig;
import io.fasterkv.api.StoreException.Corrupt;
import io.fasterkv.bench.checkpoints.CheckpointsCommand;
import io.fasterkv.bench.cpr.CprCommand;
import io.fasterkv.bench.disk.DiskCommand;
import io.fasterkv.bench.flink.FlinkStateCommand;
import io.fasterkv.bench.jmh.JmhCommand;
import io.fasterkv.bench.jobs.JobsCommand;
import io.fasterkv.bench.memory.MemoryCommand;
import io.fasterkv.bench.nexmark.NexmarkCommand;
import io.fasterkv.bench.rows.RowsCommand;
import io.fasterkv.bench.soak.SoakCommand;
import io.fasterkv.bench.start.StartCommand;
import io.fasterkv.bench.workload.WrongAnswer;
import io.fasterkv.bench.ycsb.YcsbCommand;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The program behind {@code ./bench}. */
@Command(
    name = "./bench",
    sortOptions = false,
    usageHelpAutoWidth = true,
    header = "Measures the store, its parts and its peers.",
    description = {
      "",
      "Figures from different runs or machines do not compare; ratios within one run do.",
      ""
    },
    subcommands = {
      YcsbCommand.class,
      RowsCommand.class,
      DiskCommand.class,
      MemoryCommand.class,
      CprCommand.class,
      FlinkStateCommand.class,
      NexmarkCommand.class,
      JobsCommand.class,
      StartCommand.class,
      SoakCommand.class,
      CheckpointsCommand.class,
      JmhCommand.class
    },
    footer = {"", "./bench COMMAND --help shows the options of a command."})
public final class BenchMain implements Callable<Integer> {
  static final int FAILED = 1;
  static final int BAD_ARGUMENTS = 2;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  boolean help;

  BenchMain() {}

  /** Runs a command and exits: 0 done, 1 wrong or failed, 2 bad arguments. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  /** Creates all commands, and their handling of errors. */
  public static CommandLine commandLine() {
    CommandLine line = new CommandLine(new BenchMain());
    line.setExecutionExceptionHandler((exception, command, parsed) -> {
      if (exception instanceof WrongAnswer) {
        command.getErr().println("WRONG: " + exception.getMessage());
        return FAILED;
      }
      if (exception instanceof BadConfig) {
        command.getErr().println(exception.getMessage());
        return BAD_ARGUMENTS;
      }
      if (exception instanceof Corrupt) {
        command.getErr().println("DAMAGED: " + exception.getMessage());
        return FAILED;
      }
      exception.printStackTrace(command.getErr());
      return FAILED;
    });
    line.setParameterExceptionHandler((exception, parsed) -> {
      CommandLine command = exception.getCommandLine();
      String name = command.getCommandSpec().qualifiedName();
      command.getErr().println(exception.getMessage());
      command.getErr().println("See " + name + " --help for all arguments.");
      return BAD_ARGUMENTS;
    });
    return line;
  }

  @Override
  public Integer call() {
    commandLine().usage(System.out);
    return BAD_ARGUMENTS;
  }
}
