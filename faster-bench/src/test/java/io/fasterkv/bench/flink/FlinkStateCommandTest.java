package io.fasterkv.bench.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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

/** Runs the command with small sizes: the backends take turns, and their results are compared. */
@Tag("long")
class FlinkStateCommandTest {
  @TempDir private Path directory;

  private static FlinkStateCommand parse(String... arguments) {
    FlinkStateCommand command = new FlinkStateCommand();
    new CommandLine(command).parseArgs(arguments);
    return command;
  }

  private JsonNode run(String... arguments) throws Exception {
    Path json = directory.resolve("rows.json");
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--quick");
    all.add("--directory=" + directory.resolve("work"));
    all.add("--json=" + json);

    assertThat(parse(all.toArray(String[]::new)).call()).isZero();

    try (Stream<Path> left = Files.list(directory.resolve("work"))) {
      assertThat(left.filter(Files::isDirectory)).isEmpty();
    }
    return new ObjectMapper().readTree(json.toFile());
  }

  @Test
  void aRehearsalMeasuresEveryRowOnEveryBackendWithBothAmountsOfMemory() throws Exception {
    JsonNode rows =
        run(
            "--parts=rows",
            "--suites="
                + String.join(",", Stream.of(Suite.values()).map(Suite::toString).toList()));

    int rowsOfSuites = Stream.of(Suite.values()).mapToInt(suite -> suite.rows().size()).sum();
    assertThat(rowsOfSuites).isEqualTo(3 + 5 + 1 + 11 + 3 + 5 + 1 + 6);
    assertThat(rows).hasSize(rowsOfSuites * 3 * 2);
    for (JsonNode row : rows) {
      assertThat(row.get("opsPerMilli").asDouble()).as(row.toString()).isPositive();
      assertThat(row.get("opsPerMilliByRound")).as(row.toString()).hasSize(2);
      boolean isFaster = row.get("backend").asText().equals("faster");
      if (isFaster) {
        assertThat(row.get("toHashmap").get("median").asDouble()).isPositive();
        assertThat(row.get("toRocksdb").get("median").asDouble()).isPositive();
      }
    }
    assertThat(rows.findValuesAsText("benchmark"))
        .contains("ValueStateBenchmark", "TtlMapStateBenchmark");
    assertThat(rows.findValuesAsText("row")).contains("valueGet", "listAddAll", "mapIterator");
  }

  @Test
  void missingMeasurementsHaveNoRatio() throws Exception {
    JsonNode rows =
        run(
            "--parts=rows",
            "--backends=faster",
            "--suites=value",
            "--rows=valueGet",
            "--memory=8m",
            "--clock=cpu");

    assertThat(rows).hasSize(1);
    assertThat(rows.get(0).get("toRocksdb").isNull()).isTrue();
    assertThat(rows.get(0).get("memoryBytes").asLong()).isEqualTo(8 << 20);
  }

  @Test
  void checkpointsAndRestoresOfMuchStateAreMeasuredAndChecked() throws Exception {
    JsonNode rows = run("--parts=checkpoint", "--storage=local");

    assertThat(rows).hasSize(LargeRow.values().length * 2);
    for (JsonNode row : rows) {
      assertThat(row.get("measured").get("median").asDouble()).as(row.toString()).isPositive();
      boolean isFaster = row.get("backend").asText().equals("faster");
      assertThat(row.get("toRocksdb").isNull()).isEqualTo(!isFaster);
      if (isFaster && row.get("row").asText().equals("uploadedToChanged")) {
        // All changed bytes must be uploaded; rocksdb compresses them.
        assertThat(row.get("measured").get("min").asDouble()).isGreaterThanOrEqualTo(1);
      }
    }
  }

  @Test
  void uploadsToSlowStorageAndRestoresFromItAreMeasuredAndChecked() throws Exception {
    JsonNode rows = run("--parts=checkpoint", "--storage=slow", "--slow-values=1000,100");

    assertThat(rows).hasSize(SlowRow.values().length * 2 * 2);
    for (JsonNode row : rows) {
      assertThat(row.get("measured").get("median").asDouble()).as(row.toString()).isPositive();
      boolean isFaster = row.get("backend").asText().equals("faster");
      assertThat(row.get("toRocksdb").isNull()).isEqualTo(!isFaster);
    }
    assertThat(rows.findValuesAsText("valueBytes")).contains("1000", "100");
  }

  @Test
  void manyCheckpointsOfSmallStateAreMeasured() throws Exception {
    JsonNode rows = run("--parts=growth", "--growth=longs,objects,timers,maps,fewOfMany");

    // For checkpoints 1, 10 and 12.
    assertThat(rows).hasSize(5 * 2 * 3);
    for (JsonNode row : rows) {
      assertThat(row.get("files").asInt()).as(row.toString()).isBetween(1, 100);
      assertThat(row.get("namedBytes").asLong())
          .as(row.toString())
          .isBetween(1L, row.get("uploadedBytes").asLong());
    }
  }

  @Test
  void operatorsThatShareASlotAreMeasuredAndChecked() throws Exception {
    JsonNode rows = run("--parts=slot");

    assertThat(rows).hasSize(SlotRow.values().length * 2);
    for (JsonNode row : rows) {
      assertThat(row.get("opsPerMilli").get("median").asDouble()).as(row.toString()).isPositive();
      boolean isFaster = row.get("backend").asText().equals("faster");
      assertThat(row.get("toRocksdb").isNull()).isEqualTo(!isFaster);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--keys=99,100 to 16m",
    "--calls=500001,up to 500000",
    "--rounds=0,1 to 1000",
    "--turn=0,1 to 3600",
    "--state-bytes=1k,1m to 1t",
    "--state-memory=1k,1m to 1t",
    "--slow-bytes=1k,1m to 1t",
    "--slow-memory=1k,1m to 1t",
    "--slow-values=7,8 to 1000000",
    "--slow-settle=0,1 to 3600",
    "--slot-memory=1m,128m to 1t",
    "--slot-seconds=0,1 to 3600",
  })
  void argumentsOutOfRangeSayWhatIsAllowed(String argument, String allowed) {
    assertThatThrownBy(() -> parse(argument, "--directory=" + directory).call())
        .hasMessageContaining(allowed);
  }

  @ParameterizedTest
  @CsvSource({"--backends=heap", "--suites=set", "--memory=much"})
  void unknownNamesAreRefused(String argument) {
    assertThatThrownBy(() -> parse(argument)).hasMessageContaining("allowed=");
  }
}
