package io.fasterkv.bench.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fasterkv.bench.report.JsonFile;
import io.fasterkv.bench.store.StoreKind;
import io.fasterkv.bench.workload.Distribution;
import io.fasterkv.bench.workload.Workload;
import io.fasterkv.bench.ycsb.Slice.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class YcsbCommandTest {
  private static YcsbCommand parse(String... arguments) {
    YcsbCommand command = new YcsbCommand();
    new CommandLine(command).parseArgs(arguments);
    return command;
  }

  private static List<RowSpec> rows(String... arguments) {
    return parse(arguments).rows(new ArrayList<>());
  }

  @Test
  void everyCombinationIsARow() {
    assertThat(
            rows(
                "--stores=faster",
                "--workload=rmw,50:50",
                "--distribution=uniform,zipf,hotset",
                "--threads=1,2",
                "--batch=1,32"))
        .hasSize(2 * 3 * 2 * 2)
        .doesNotHaveDuplicates()
        .contains(
            new RowSpec(StoreKind.FASTER, Workload.mix(50), Distribution.HOTSET, 2, 32),
            new RowSpec(StoreKind.FASTER, Workload.RMW, Distribution.ZIPF, 1, 1));
  }

  @Test
  void aStoreWithoutBatchesIsMeasuredOnceAndOneAtATime() {
    List<String> notes = new ArrayList<>();

    List<RowSpec> rows = parse("--stores=chm,agrona", "--batch=8,32").rows(notes);

    assertThat(rows).extracting(RowSpec::batch).containsExactly(1, 1);
    assertThat(notes).hasSize(2).allMatch(note -> note.contains("has no batches"));
  }

  @Test
  void unsupportedWorkloadsAreOmittedWithANote() {
    List<String> notes = new ArrayList<>();

    List<RowSpec> rows = parse("--stores=ceiling", "--threads=1,2").rows(notes);

    assertThat(rows).extracting(RowSpec::threads).containsExactly(1);
    assertThat(notes).singleElement().asString().contains("ceiling rmw uniform threads=2");
  }

  @ParameterizedTest
  @CsvSource({"4096,4096", "16k,16384", "64M,67108864", "2g,2147483648"})
  void memoryHasUnits(String argument, long bytes) {
    assertThat(parse("--memory", argument).data.data().memoryBytes()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource({"250000,250000", "500k,500000", "16m,16000000"})
  void keysHaveUnits(String argument, long keys) {
    assertThat(parse("--keys", argument).data.data().keys()).isEqualTo(keys);
  }

  @ParameterizedTest
  @CsvSource({
    "--stores=fster,'allowed=faster, faster-append, faster-memory, chm, agrona, ceiling'",
    "--workload=scan,allowed=rmw",
    "--distribution=normal,'allowed=uniform, zipf, hotset'",
    "--memory=4q,allowed=0 to 256t",
    "--memory=-1,allowed=0 to 256t",
    "--memory=99999999t,allowed=0 to 256t",
    "--keys=many,allowed=a whole number",
    "--seconds=-1,allowed=0 to 86400 seconds"
  })
  void anArgumentThatCannotBeReadSaysWhatIsAllowed(String argument, String allowed) {
    assertThatThrownBy(() -> parse(argument))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining(allowed);
  }

  @ParameterizedTest
  @CsvSource({"--keys=99,100 to 1g", "--value-bytes=7,8 to 65536"})
  void dataOutOfRangeSaysWhatIsAllowed(String argument, String allowed) {
    assertThatThrownBy(() -> parse(argument).data.data()).hasMessageContaining(allowed);
  }

  @ParameterizedTest
  @CsvSource({"--rounds=0,1 to 1000", "--stream=10,1k to 64m"})
  void timesOutOfRangeSayWhatIsAllowed(String argument, String allowed) {
    assertThatThrownBy(() -> parse(argument).timing.timing()).hasMessageContaining(allowed);
  }

  @ParameterizedTest
  @CsvSource({"--threads=0,1 to 256", "--batch=2000,1 to 1024"})
  void countsOutOfRangeSayWhatIsAllowed(String argument, String allowed) {
    assertThatThrownBy(() -> rows(argument)).hasMessageContaining(allowed);
  }

  @Test
  void theHeapGrowsWithTheKeysOfThePeers() {
    long few = heap("--stores=chm", "--keys=1m", "--stream=1k");
    long many = heap("--stores=chm", "--keys=21m", "--stream=1k");

    // A node, a key and a value of a ConcurrentHashMap take at least 64 bytes.
    assertThat(many - few).isGreaterThan(20_000_000L * 64 >> 20);
    assertThat(heap("--stores=faster", "--keys=1g", "--stream=1k")).isLessThan(few);
  }

  private static long heap(String... arguments) {
    String option = parse(arguments).jvmOptions().getFirst();
    return Long.parseLong(option.replaceAll("\\D", ""));
  }

  @Test
  void theJsonFileHasAnObjectForEachRow(@TempDir Path directory) throws IOException {
    RowSpec spec = new RowSpec(StoreKind.FASTER, Workload.RMW, Distribution.ZIPF, 2, 32);
    RowResult result =
        new RowResult(
            spec, List.of(new Outcome(3, 0, 10), new Outcome(1, 0.5, 10), new Outcome(2, 1, 10)));
    Path file = directory.resolve("new").resolve("rows.json");

    JsonFile.write(file, YcsbReport.rows(List.of(result), new Data(500, 8, 0, 0)));

    JsonNode rows = new ObjectMapper().readTree(file.toFile());
    assertThat(rows.isArray()).isTrue();
    assertThat(rows).hasSize(1);
    JsonNode row = rows.get(0);
    assertThat(row.get("store").asText()).isEqualTo("faster");
    assertThat(row.get("workload").asText()).isEqualTo("rmw");
    assertThat(row.get("distribution").asText()).isEqualTo("zipf");
    assertThat(row.get("keys").asLong()).isEqualTo(500);
    assertThat(row.get("threads").asInt()).isEqualTo(2);
    assertThat(row.get("batch").asInt()).isEqualTo(32);
    assertThat(row.get("mops").asDouble()).isEqualTo(2);
    assertThat(row.get("mopsMin").asDouble()).isEqualTo(1);
    assertThat(row.get("mopsMax").asDouble()).isEqualTo(3);
    assertThat(row.get("bytesPerOp").asDouble()).isEqualTo(0.5);
  }

  @Test
  void aRatioIsTakenRoundByRound() {
    RowSpec spec = new RowSpec(StoreKind.FASTER, Workload.RMW, Distribution.ZIPF, 1, 1);
    RowResult row =
        new RowResult(
            spec, List.of(new Outcome(4, 0, 1), new Outcome(9, 0, 1), new Outcome(2, 0, 1)));
    RowResult other =
        new RowResult(
            spec, List.of(new Outcome(2, 0, 1), new Outcome(3, 0, 1), new Outcome(2, 0, 1)));

    assertThat(row.times(other).median()).isEqualTo(2);
    assertThat(row.times(other).min()).isEqualTo(1);
    assertThat(row.times(other).max()).isEqualTo(3);
  }

  @Test
  void warmUpAndSlicesAreSeconds() {
    Timing timing = parse("--seconds=0.25", "--warmup=2").timing.timing();

    assertThat(timing.slice()).isEqualTo(Duration.ofMillis(250));
    assertThat(timing.warmup()).isEqualTo(Duration.ofSeconds(2));
  }
}
