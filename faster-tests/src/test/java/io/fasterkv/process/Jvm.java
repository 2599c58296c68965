package io.fasterkv.process;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A JVM that a test starts on its own JDK, with its output in a file. The JVM ends with the test's
 * process, and at the latest when this object is closed.
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
   * Starts a JVM.
   *
   * @param name of its output file, without {@code .log}; earlier output is kept
   * @param directory for the output; also the working directory
   * @param classPath jars and directories; that of {@link TiedMain} is added
   * @param options for the JVM
   * @param main a class and its arguments
   */
  public static Jvm start(
      String name, Path directory, List<Path> classPath, List<String> options, List<String> main)
      throws IOException {
    return start(name, directory, classPath, options, main, Map.of());
  }

  /** Like {@link #start(String, Path, List, List, List)}, with environment variables. */
  public static Jvm start(
      String name,
      Path directory,
      List<Path> classPath,
      List<String> options,
      List<String> main,
      Map<String, String> environment)
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
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()));
    builder.environment().putAll(environment);
    return new Jvm(name, output, builder.start());
  }

  public String name() {
    return name;
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Sends SIGKILL to the JVM and the processes that it started, and waits until the JVM has ended.
   */
  public void kill() throws InterruptedException {
    List<ProcessHandle> started = process.descendants().toList();
    process.destroyForcibly().waitFor();
    started.forEach(ProcessHandle::destroyForcibly);
  }

  /** Waits until the process exits; returns its exit code. */
  public int awaitEnd(long minutes) throws InterruptedException {
    if (!process.waitFor(minutes, TimeUnit.MINUTES)) {
      kill();
      throw new AssertionError(name + " did not end in " + minutes + " minutes:\n" + tail());
    }
    return process.exitValue();
  }

  /** All lines that the JVM has written. */
  public List<String> lines() throws IOException {
    // The process may still be writing, so the last character may be incomplete.
    return new String(Files.readAllBytes(output), StandardCharsets.ISO_8859_1).lines().toList();
  }

  /** The last lines that the JVM has written, for messages. */
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
    List<ProcessHandle> started = process.descendants().toList();
    process.destroyForcibly();
    process.onExit().join();
    started.forEach(ProcessHandle::destroyForcibly);
  }
}
