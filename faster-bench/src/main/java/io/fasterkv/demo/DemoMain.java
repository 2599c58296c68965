package io.fasterkv.demo;

import io.fasterkv.bench.process.WorkDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The program behind {@code ./demo}. */
public final class DemoMain {
  static final int RIGHT = 0;
  static final int WRONG = 1;
  static final int BAD_ARGUMENTS = 2;

  private DemoMain() {}

  /** Runs the demo and exits: 0 right, 1 wrong or failed, 2 bad arguments. */
  public static void main(String[] arguments) {
    PrintWriter out = new PrintWriter(System.out, true, System.out.charset());
    PrintWriter err = new PrintWriter(System.err, true, System.err.charset());
    DemoOptions options = new DemoOptions();
    Integer exit = parse(options, arguments, out, err);
    System.exit(exit == null ? run(options, err) : exit);
  }

  /** Fills {@code options}; returns the exit code if there is nothing left to do, or null. */
  static @Nullable Integer parse(
      DemoOptions options, String[] arguments, PrintWriter out, PrintWriter err) {
    CommandLine line = new CommandLine(options);
    line.setCommandName("./demo");
    try {
      line.parseArgs(arguments);
    } catch (ParameterException e) {
      err.println(e.getMessage() + allowed(e));
      err.println("See ./demo --help for all arguments and their allowed values.");
      return BAD_ARGUMENTS;
    }
    if (line.isUsageHelpRequested()) {
      line.usage(out);
      return RIGHT;
    }
    return null;
  }

  /** The allowed values, which picocli's own messages do not name. */
  private static String allowed(ParameterException e) {
    if (e instanceof MissingParameterException missing && !missing.getMissing().isEmpty()) {
      return ": " + String.join(" ", missing.getMissing().getFirst().description());
    }
    if (e instanceof UnmatchedArgumentException) {
      return e.getCommandLine().getCommandSpec().options().stream()
          .map(OptionSpec::longestName)
          .collect(Collectors.joining(", ", ", allowed=", ""));
    }
    return "";
  }

  private static int run(DemoOptions options, PrintWriter err) {
    WorkDirectory directory;
    try {
      directory = WorkDirectory.create(options.workDir);
      // Libraries unpack files here; they are deleted with the run however it ends.
      System.setProperty("java.io.tmpdir", directory.directory("tmp").toString());
    } catch (IOException e) {
      err.println(
          "the work directory cannot be used: --work-dir="
              + options.workDir
              + ", allowed=a directory that can be written, reason="
              + e);
      return BAD_ARGUMENTS;
    }
    if (directory.removedRuns() > 0) {
      System.out.println("Removed what dead runs had left: runs=" + directory.removedRuns());
    }
    LogFile.use(directory.path().resolve(LogFile.NAME));
    return new DemoProcess(options, directory, err).run();
  }
}
