package io.fasterkv.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a Python interpreter: {@code -Dfaster.python} or {@code python3}. */
final class Python {
  private static final int PATIENCE_MINUTES = 3;

  private Python() {}

  /** The interpreter. */
  static String executable() {
    return System.getProperty("faster.python", "python3");
  }

  /** The result of a process. */
  record Ended(int status, String output) {}

  /**
   * Runs the interpreter and waits until it exits.
   *
   * @param output a file for its output
   */
  static Ended run(Path output, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(executable()));
    command.addAll(List.of(arguments));
    Files.createDirectories(output.getParent());
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    try {
      if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
        throw new AssertionError(
            "timed out waiting for the end of " + command + "\n" + Files.readString(output));
      }
      return new Ended(process.exitValue(), Files.readString(output));
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
