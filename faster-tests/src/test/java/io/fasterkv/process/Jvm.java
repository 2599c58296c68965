package io.fasterkv.process;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A JVM of a test's, on the test's JDK, whose output goes to a file. It dies with the test's
 * process, and at the latest when this is closed.
 */
public final class Jvm implements AutoCloseable {
  private static final int LAST_LINES = 60;

  private final String name;
  private final Path output;
  private final Process process;

  private Jvm(String name, Path output, Process process) {
    this.name = name;
    this.output = output;
    this.process = process;
  }

  /**
   * Starts one.
   *
   * @param name of its output file, without {@code .log}; what it wrote before is kept
   * @param directory for the output; also the working directory
   * @param classPath jars and directories, {@link TiedMain}'s is added
   * @param options for the JVM
   * @param main a class and its arguments
   */
  public static Jvm start(
      String name, Path directory, List<Path> classPath, List<String> options, List<String> main)
      throws IOException {
    Files.createDirectories(directory);
    Path output = directory.resolve(name + ".log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add("-classpath");
    command.add(
        classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
    command.add(TiedMain.class.getName());
    command.addAll(main);
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
            .start();
    return new Jvm(name, output, process);
  }

  public String name() {
    return name;
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Sends SIGKILL, and waits until the process is gone. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Waits until the process has ended by itself; returns its exit code. */
  public int awaitEnd(long minutes) throws InterruptedException {
    if (!process.waitFor(minutes, TimeUnit.MINUTES)) {
      kill();
      throw new AssertionError(name + " did not end in " + minutes + " minutes:\n" + tail());
    }
    return process.exitValue();
  }

  /** All that it has written. */
  public List<String> lines() throws IOException {
    // Another process may be writing: a character may be cut.
    return new String(Files.readAllBytes(output), StandardCharsets.ISO_8859_1).lines().toList();
  }

  /** The end of what it has written, for messages. */
  public String tail() {
    try {
      List<String> lines = lines();
      return "--- "
          + output
          + (isAlive() ? " (alive)" : " (exit code " + process.exitValue() + ")")
          + "\n"
          + String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    } catch (IOException unreadable) {
      return "--- " + output + ": " + unreadable;
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
