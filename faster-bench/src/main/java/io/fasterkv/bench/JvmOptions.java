package io.fasterkv.bench;

import io.fasterkv.bench.args.JvmNeeds;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Prints the JVM options that a command line needs, for the launcher. */
public final class JvmOptions {
  private JvmOptions() {}

  /** Prints them in one line. */
  public static void main(String[] arguments) {
    System.out.println(String.join(" ", of(arguments)));
  }

  /** The options for these arguments, or the usual ones if the arguments will be refused anyway. */
  public static List<String> of(String... arguments) {
    try {
      for (CommandLine line :
          BenchMain.commandLine().parseArgs(arguments).asCommandLineList().reversed()) {
        if (line.getCommand() instanceof JvmNeeds needs) {
          return needs.jvmOptions();
        }
      }
    } catch (ParameterException e) {
      return JvmNeeds.heap(0);
    }
    return JvmNeeds.heap(0);
  }
}
