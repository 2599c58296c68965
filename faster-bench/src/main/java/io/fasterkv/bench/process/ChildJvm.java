package io.fasterkv.bench.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A main class in a JVM of its own, on the same Java and class path as this process. It ends when
 * this process does, and at the latest when it is closed.
 */
public final class ChildJvm implements AutoCloseable {
  private static final int SHOWN_LINES = 18;
  private static final String ERROR = " ERROR ";
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final String name;
  private final Path output;
  private final Process process;

  private ChildJvm(String name, Path output, Process process) {
    this.name = name;
    this.output = output;
    this.process = process;
  }

  /**
   * Starts one.
   *
   * @param name of the process in messages
   * @param main a public class with a main method
   * @param output the file to which what it prints is appended; it may append its log there
   */
  public static ChildJvm start(
      String name, Class<?> main, List<String> jvmOptions, List<String> arguments, Path output)
      throws IOException {
    List<String> all = new ArrayList<>();
    all.add(main.getName());
    all.addAll(arguments);
    Process process =
        new ProcessBuilder(Commands.java(TiedMain.class, jvmOptions, all))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
            .start();
    return new ChildJvm(name, output, process);
  }

  /** Its processor time so far, in nanoseconds, with the system's precision of 10 ms. */
  public long cpuNanos() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
  }

  /** Its highest resident size so far, in bytes, or 0 if it is not known. */
  public long peakBytes() {
    return ProcessMemory.peakBytes(process.pid());
  }

  /**
   * Fails if the process has ended.
   *
   * @throws IOException with what it has printed about the reason
   */
  public void check() throws IOException {
    if (!process.isAlive()) {
      throw new IOException(
          "a process has ended: name="
              + name
              + ", exit="
              + process.exitValue()
              + System.lineSeparator()
              + reason());
    }
  }

  /** Waits for a while, or until the process ends. */
  public void await(Duration most) throws InterruptedException {
    process.waitFor(most.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** The lines from the first error on, or the last ones. */
  private String reason() throws IOException {
    List<String> lines = Files.readString(output, StandardCharsets.ISO_8859_1).lines().toList();
    int error =
        IntStream.range(0, lines.size())
            .filter(line -> lines.get(line).contains(ERROR))
            .findFirst()
            .orElse(lines.size() - SHOWN_LINES);
    return lines.stream()
        .skip(Math.max(0, error))
        .limit(SHOWN_LINES)
        .collect(Collectors.joining(System.lineSeparator()));
  }

  /** Kills it, and waits until it has ended. */
  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new IOException("a process does not end: name=" + name + ", pid=" + process.pid());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a process ended: name=" + name, e);
    }
  }
}
