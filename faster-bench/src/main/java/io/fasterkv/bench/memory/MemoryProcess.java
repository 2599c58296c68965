package io.fasterkv.bench.memory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fasterkv.bench.process.Commands;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;

/** Runs {@code ./bench memory} in a JVM of its own. */
public final class MemoryProcess {
  private MemoryProcess() {}

  /** The highest resident size over the JVM's own and the budget, in bytes. */
  public static long highestOverBytes(Path directory) throws IOException {
    Path json = directory.resolve("memory.json");
    List<String> arguments =
        List.of("--directory", directory.toString(), "--json", json.toString());
    List<String> command =
        Commands.java(MemoryCommand.class, new MemoryCommand().jvmOptions(), arguments);
    Process process =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    int exit = Commands.await(process);
    if (!json.toFile().isFile()) {
      throw new IOException("./bench memory has failed: exit=" + exit);
    }
    JsonNode phases = new ObjectMapper().readTree(json.toFile());
    return StreamSupport.stream(phases.spliterator(), false)
        .mapToLong(phase -> phase.path("overBytes").asLong())
        .max()
        .orElseThrow();
  }
}
