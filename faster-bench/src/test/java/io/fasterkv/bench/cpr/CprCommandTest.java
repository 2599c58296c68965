package io.fasterkv.bench.cpr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fasterkv.FasterStore;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Runs all parts with {@code --quick}; the recovered stores check their contents. */
@Tag("long")
class CprCommandTest {
  @TempDir private Path directory;

  private static CprCommand parse(String... arguments) {
    CprCommand command = new CprCommand();
    new CommandLine(command).parseArgs(arguments);
    return command;
  }

  /** The store's current classes instead of older ones. */
  private static Path ownClasses() throws URISyntaxException {
    return Path.of(FasterStore.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  @Test
  void aRehearsalMeasuresEveryRowAndDrawsEveryFigure() throws IOException, URISyntaxException {
    Path json = directory.resolve("cpr.json");
    Path out = directory.resolve("figures");

    int exit =
        parse(
                "--quick",
                "--directory=" + directory.resolve("work"),
                "--baseline-jar=" + ownClasses(),
                "--json=" + json,
                "--out=" + out)
            .call();

    assertThat(exit).isZero();
    JsonNode rows = new ObjectMapper().readTree(json.toFile());
    assertThat(rows).hasSize(10);
    for (JsonNode row : rows) {
      boolean hasMeasured = row.get("measured").path("median").asDouble() > 0;
      boolean mayLack =
          row.get("name").asText().contains("fio") || row.get("unit").asText().equals("ms");
      assertThat(hasMeasured || mayLack).as(row.toString()).isTrue();
    }
    assertThat(names(out, ".png"))
        .containsExactly(
            "figure-12a-throughput.png",
            "figure-12b-throughput.png",
            "figure-12c-throughput.png",
            "figure-12d-log-growth.png",
            "figure-14a-latency.png",
            "figure-14b-latency.png",
            "figure-15-client-buffers.png",
            "figure-18a-log-only-throughput.png",
            "figure-18b-log-only-growth.png");
    for (String png : names(out, ".png")) {
      assertThat(ImageIO.read(out.resolve(png).toFile()).getWidth()).isGreaterThan(500);
      Path csv = out.resolve(png.replace(".png", ".csv"));
      assertThat(Files.readAllLines(csv)).as(png).hasSizeGreaterThan(4);
    }
    assertThat(Files.readAllLines(out.resolve("figure-12-checkpoints.csv"))).hasSize(1 + 3 * 4 * 2);
    try (Stream<Path> left = Files.list(directory.resolve("work"))) {
      assertThat(left.filter(Files::isDirectory)).isEmpty();
    }
  }

  private static List<String> names(Path directory, String end) throws IOException {
    List<String> names = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(end))
          .forEach(names::add);
    }
    names.sort(null);
    return names;
  }

  @Test
  void aRevisionThatIsNotThereLeavesItsRowUnmeasured() throws IOException {
    Path json = directory.resolve("cpr.json");

    int exit =
        parse(
                "--quick",
                "--only=rest",
                "--directory=" + directory.resolve("work"),
                "--baseline-revision=no-such-revision",
                "--json=" + json)
            .call();

    assertThat(exit).isZero();
    JsonNode row = new ObjectMapper().readTree(json.toFile()).get(0);
    assertThat(row.get("measured").isNull()).isTrue();
    assertThat(row.get("note").asText()).contains("--baseline-jar");
  }

  @ParameterizedTest
  @CsvSource({
    "--keys=999,1k to 128m",
    "--threads=0,1 to 256",
    "--rounds=0,1 to 1000",
    "--forks=101,1 to 100",
    "--unit=0.01,0.02 to 60",
    "--baseline-jar=/no/such/file,a file that exists"
  })
  void argumentsOutOfRangeSayWhatIsAllowed(String argument, String allowed) {
    assertThatThrownBy(() -> parse(argument, "--directory=" + directory).call())
        .hasMessageContaining(allowed);
  }
}
