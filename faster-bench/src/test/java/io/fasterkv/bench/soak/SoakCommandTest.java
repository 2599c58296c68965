package io.fasterkv.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fasterkv.bench.report.Goal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Tag("long")
class SoakCommandTest {
  @TempDir private Path directory;

  private SoakCommand parse(String... arguments) {
    SoakCommand command = new SoakCommand();
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--directory=" + directory.resolve("work"));
    new CommandLine(command).parseArgs(all.toArray(String[]::new));
    return command;
  }

  /** Runs long enough for lists to be checked and cleared, timers to fire, and marks to expire. */
  @ParameterizedTest
  @CsvSource({"faster", "rocksdb"})
  void aRehearsalChecksAllThatItReadsAndLeavesNothing(String backend) throws Exception {
    Path json = directory.resolve("samples.json");
    SoakCommand command =
        parse(
            "--backend=" + backend,
            "--seconds=3",
            "--sample=0.5",
            "--memory=8m",
            "--keys=500",
            "--records-per-second=20k",
            "--json=" + json,
            "--out=" + directory.resolve("plots"));

    assertThat(command.call()).isZero();

    JsonNode samples = new ObjectMapper().readTree(json.toFile());
    assertThat(samples).hasSize(6);
    for (JsonNode sample : samples) {
      assertThat(sample.get("recordsPerSecond").asDouble()).isPositive();
      assertThat(sample.get("localBytes").asLong()).isPositive();
      assertThat(sample.get("checkpointBytes").asLong()).isPositive();
    }
    try (Stream<Path> left = Files.list(directory.resolve("work"))) {
      assertThat(left.filter(Files::isDirectory)).isEmpty();
    }
    assertThat(directory.resolve("plots/soak-bytes.png")).isNotEmptyFile();
    assertThat(directory.resolve("plots/soak-time.csv")).isNotEmptyFile();
  }

  @Test
  void growthInTheLastThirdMissesTheGoal() {
    List<SoakSample> samples = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      samples.add(new SoakSample(i, 1, 1, 1, 1, 1, i < 20 ? 100 : 120, 100, 100, 1, 1));
    }
    List<Goal> goals = new SoakReport(samples).goals();
    assertThat(goals).filteredOn(goal -> goal.name().contains("memory")).noneMatch(Goal::isMet);
    assertThat(goals).filteredOn(goal -> !goal.name().contains("memory")).allMatch(Goal::isMet);
  }

  @ParameterizedTest
  @CsvSource({
    "--memory=1k,1m to 1t",
    "--keys=99,100 to 16m",
    "--records-per-second=0,1 to 1m",
    "--sample=1000,a sixth of --seconds",
    "--sample=0,a sixth of --seconds",
  })
  void argumentsOutOfRangeSayWhatIsAllowed(String argument, String allowed) {
    assertThatThrownBy(() -> parse(argument).call()).hasMessageContaining(allowed);
  }
}
