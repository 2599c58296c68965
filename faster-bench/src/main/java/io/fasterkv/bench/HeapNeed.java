package io.fasterkv.bench;

import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Prints the option for the heap that a command line needs; the launcher asks before it starts. */
public final class HeapNeed {
  private static final long BASE_MIB = 512;

  private HeapNeed() {}

  /** Prints {@code -Xmx} and a size. */
  public static void main(String[] arguments) {
    System.out.println("-Xmx" + mebibytes(arguments) + "m");
  }

  /** The heap for these arguments, or the least one if they will be refused anyway. */
  static long mebibytes(String... arguments) {
    try {
      ParseResult parsed = BenchMain.commandLine().parseArgs(arguments);
      long bytes = 0;
      for (CommandLine line : parsed.asCommandLineList()) {
        bytes += line.getCommand() instanceof HeapUser user ? user.heapBytes() : 0;
      }
      return BASE_MIB + (bytes >> 20);
    } catch (ParameterException e) {
      return BASE_MIB;
    }
  }
}
