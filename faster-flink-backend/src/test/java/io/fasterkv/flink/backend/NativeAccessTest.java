package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.flink.TestSettings;
import io.fasterkv.flink.config.FasterOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that opening a backend grants native access unless it is forbidden, and that files are then
 * mapped unless the system counts their pages as memory of the process.
 */
@EnabledOnOs(OS.LINUX)
@Tag("long")
class NativeAccessTest {
  private static final String WARNING = "A restricted method in java.lang.foreign.MemorySegment";
  private static final String HINT = "no huge pages without native access";
  private static final String YARN = "CONTAINER_ID";
  private static final Map<String, String> IN_YARN =
      Map.of(YARN, "container_e17_1410901177871_0001_01_000005");

  @TempDir Path directory;

  @Test
  void aBackendHasItWithoutAFlagAndTheJvmSaysSoOnce() throws Exception {
    String output = run(Map.of(), List.of());
    assertThat(output).contains("before=false", "after=true mapped=true").doesNotContain(HINT);
    assertThat(output.split(WARNING, -1)).as(output).hasSize(2);
  }

  @Test
  void withTheFlagNothingIsAskedFor() throws Exception {
    assertThat(run(Map.of(), List.of("--enable-native-access=ALL-UNNAMED")))
        .contains("before=true", "after=true mapped=true")
        .doesNotContain(WARNING);
  }

  @Test
  void whereItIsDeniedABackendWorksWithoutAndSaysSo() throws Exception {
    assertThat(run(Map.of(), List.of("--illegal-native-access=deny")))
        .contains("before=false", "after=false mapped=false", HINT)
        .doesNotContain(WARNING);
  }

  /** The JVM then lets all code use restricted methods, but grants native access to no module. */
  @Test
  void whereAllIsAllowedNothingIsGranted() throws Exception {
    assertThat(run(Map.of(), List.of("--illegal-native-access=allow")))
        .contains("before=false", "after=false mapped=false", HINT)
        .doesNotContain(WARNING);
  }

  @Test
  void aContainerOfYarnIsNotEndedForMappedFiles() throws Exception {
    assertThat(run(IN_YARN, List.of())).contains("before=false", "after=true mapped=false");
    assertThat(run(IN_YARN, List.of("-Dmapped=true"))).contains("after=true mapped=true");
  }

  @Test
  void mappedFilesCanBeSwitchedOff() throws Exception {
    assertThat(run(Map.of(), List.of("-Dmapped=false"))).contains("after=true mapped=false");
  }

  private String run(Map<String, String> environment, List<String> options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-Xmx256m", "-Dlog4j.configurationFile=" + logToConsole()));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Child.class.getName()));
    command.add(directory.toString());
    Path output = directory.resolve("output.txt");
    ProcessBuilder child =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    child.environment().remove(YARN);
    child.environment().putAll(environment);
    int exit = child.start().waitFor();
    String text = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(exit).as(text).isZero();
    return text;
  }

  private Path logToConsole() throws IOException {
    return Files.writeString(
        directory.resolve("log4j2.properties"),
        """
        appender.console.type = Console
        appender.console.name = console
        rootLogger.level = INFO
        rootLogger.appenderRef.console.ref = console
        """);
  }

  /** Opens two backends, each with more state than memory. */
  static final class Child {
    private static final int KEYS = 50_000;

    private Child() {}

    public static void main(String[] args) throws Exception {
      System.out.println("before=" + isThere());
      Configuration config =
          TestSettings.TINY_INCREMENTAL
              .config()
              .set(FasterOptions.LOCAL_DIRECTORIES, List.of(args[0]));
      String mapped = System.getProperty("mapped");
      if (mapped != null) {
        config.set(FasterOptions.MAPPED_READS, Boolean.valueOf(mapped));
      }
      try (var backends = new TestBackends(config)) {
        fill(backends.open());
        fill(backends.open());
        System.out.println("after=" + isThere() + " mapped=" + isMapped());
      }
    }

    private static boolean isThere() {
      return Child.class.getModule().isNativeAccessEnabled();
    }

    private static boolean isMapped() throws IOException {
      try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
        return lines.anyMatch(line -> line.matches(".* r--s .*/log\\.[0-9]+"));
      }
    }

    private static void fill(FasterKeyedStateBackend<Integer> backend) throws Exception {
      ValueState<Long> state =
          backend.getPartitionedState(
              VoidNamespace.INSTANCE,
              VoidNamespaceSerializer.INSTANCE,
              new ValueStateDescriptor<>("value", Long.class));
      for (int key = 0; key < KEYS; key++) {
        backend.setCurrentKey(key);
        state.update((long) key);
      }
      for (int key = 0; key < KEYS; key++) {
        backend.setCurrentKey(key);
        if (state.value() != key) {
          throw new AssertionError("key " + key);
        }
      }
    }
  }
}
