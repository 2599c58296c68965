package io.fasterkv.bench.memory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fasterkv.bench.BenchMain;
import io.fasterkv.bench.JvmOptions;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;

/** Runs {@code ./bench memory} in a JVM of its own, in which there is nothing else. */
public final class MemoryProcess {
  private MemoryProcess() {}

  /** The highest resident size over the JVM's own and the budget, in bytes. */
  public static long highestOverBytes(Path directory) throws IOException {
    Path json = directory.resolve("memory.json");
    List<String> arguments =
        List.of("memory", "--directory", directory.toString(), "--json", json.toString());
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-cp");
    command.add(System.getProperty("java.class.path", "." + File.pathSeparator));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(JvmOptions.of(arguments.toArray(String[]::new)));
    command.add(BenchMain.class.getName());
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    int exit = await(process);
    if (!json.toFile().isFile()) {
      throw new IOException("./bench memory has failed: exit=" + exit);
    }
    JsonNode phases = new ObjectMapper().readTree(json.toFile());
    return StreamSupport.stream(phases.spliterator(), false)
        .mapToLong(phase -> phase.path("overBytes").asLong())
        .max()
        .orElseThrow();
  }

  private static int await(Process process) throws IOException {
    try {
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while memory was measured", e);
    }
  }
}
