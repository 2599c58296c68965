package io.fasterkv.bench.process;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs other programs, and this one in a JVM of its own. */
public final class Commands {
  private static final int SHOWN_CHARACTERS = 2000;

  private Commands() {}

  /**
   * The command that starts a main class of this program on the same Java, with native access if
   * this JVM has it.
   */
  public static List<String> java(Class<?> main, List<String> jvmOptions, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-cp");
    command.add(System.getProperty("java.class.path", "." + File.pathSeparator));
    if (Commands.class.getModule().isNativeAccessEnabled()) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(jvmOptions);
    command.add(main.getName());
    command.addAll(arguments);
    return command;
  }

  /**
   * Runs a command to its end and returns its output, including errors.
   *
   * @throws IOException if it cannot be started or fails
   */
  public static String run(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int exit = await(process);
    if (exit != 0) {
      String end = output.substring(Math.max(0, output.length() - SHOWN_CHARACTERS));
      throw new IOException(
          "a program has failed: program="
              + command.getFirst()
              + ", exit="
              + exit
              + ", output="
              + end.strip());
    }
    return output;
  }

  /** Waits for a process to end; ends it when interrupted. */
  public static int await(Process process) throws IOException {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a program ran", e);
    }
  }
}
