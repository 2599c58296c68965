package io.fasterkv.bench.nexmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fasterkv.bench.BenchMain;
import io.fasterkv.bench.workload.WrongAnswer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class NexmarkCommandTest {
  @TempDir Path directory;

  private NexmarkCommand command(String... arguments) {
    List<String> all = new ArrayList<>(List.of("nexmark"));
    all.addAll(Arrays.asList(arguments));
    all.add("--directory=" + directory);
    CommandLine.ParseResult parsed = BenchMain.commandLine().parseArgs(all.toArray(String[]::new));
    return (NexmarkCommand) parsed.subcommand().commandSpec().userObject();
  }

  @Test
  @Tag("long")
  void aWrongResultOfABackendFailsTheRun() {
    Path json = directory.resolve("runs.json");
    Path html = directory.resolve("page/runs.html");
    Path csv = directory.resolve("runs.csv");
    assertThatThrownBy(() ->
            command(
                    "--quick",
                    "--queries=q4,q18",
                    "--backends=hashmap,faster",
                    "--falsify=faster",
                    "--json=" + json,
                    "--html=" + html,
                    "--csv=" + csv)
                .call())
        .isInstanceOf(WrongAnswer.class)
        .hasMessageContaining("job=q4, hashmap=5 rows");
    assertThat(json).content().contains("\"job\" : \"q18\"").contains("eventsPerSecond");
    assertThat(html).content().contains("<svg", "k events/s", "q18, hashmap: ");
    assertThat(csv)
        .content()
        .startsWith("query,backend,round,k events/s")
        .contains("q18,hashmap,1,");
  }

  private JsonNode run(String... arguments) throws Exception {
    Path json = directory.resolve("runs.json");
    List<String> all = new ArrayList<>(List.of("--quick", "--queries=q4", "--json=" + json));
    all.addAll(Arrays.asList(arguments));
    assertThat(command(all.toArray(String[]::new)).call()).isZero();
    return new ObjectMapper().readTree(json.toFile()).get(0);
  }

  @Test
  @Tag("long")
  void aClusterOfProcessesHasTheSameResult() throws Exception {
    String backend = "--backends=faster";
    JsonNode expected = run(backend);
    JsonNode found = run(backend, "--cluster", "--failures=0.6", "--rate=1k");
    assertThat(found.at("/plan/cluster/isSeparate").asBoolean()).isTrue();
    assertThat(found.get("rows").asLong()).isPositive().isEqualTo(expected.get("rows").asLong());
    assertThat(found.get("resultHash").asText()).isEqualTo(expected.get("resultHash").asText());
    assertThat(found.at("/result/latency/p50").asDouble()).isPositive();
    assertThat(found.at("/result/checkpoints/writtenBytes").asLong()).isPositive();
    assertThat(found.at("/result/cpuMicros").asDouble()).isPositive();
    assertThat(found.at("/result/residentBytes").asLong()).isPositive();
  }

  @ParameterizedTest
  @CsvSource({
    "--events=999,1k to 1g",
    "--rounds=0,1 to 1000",
    "--parallelism=129,1 to 128",
    "--warm-up=1,0 to 0.9",
    "--failures=1.5,below 1",
    "--checkpoint-interval=0.01,0.05 to 3600",
    "--disorder=953,1 to 952",
    "--queries=q6,q0 to q23",
    "--backends=heap,faster",
    "--memory=1k,16m to 1t",
    "--memory=0%,16m to 1t",
    "--rate=0,1 to 1g",
    "--rate=x%,such as 70%",
    "--cluster --profile=here,--profile records",
  })
  void argumentsOutOfRangeSayWhatIsAllowed(String argument, String allowed) {
    assertThatThrownBy(() -> command(argument.split(" ")).call()).hasMessageContaining(allowed);
  }
}
