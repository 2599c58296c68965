package io.fasterkv.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.bench.args.Backend;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.SavepointFormatType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ArgumentsTest {
  private final DemoOptions options = new DemoOptions();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void withoutArgumentsTheDefaultsHold() {
    assertThat(parse()).isNull();

    assertThat(options.backend.backend()).isEqualTo(Backend.FASTER);
    assertThat(options.parallelism).isEqualTo(2);
    assertThat(options.resumeParallelism).isEqualTo(3);
    assertThat(options.checkpointInterval).isEqualTo(Duration.ofMillis(500));
    assertThat(options.input).isNull();
  }

  @Test
  void everyArgumentIsRead() {
    assertThat(
            parse(
                "--backend=RocksDB",
                "--memory=64m",
                "--input=texts",
                "--words=1500k",
                "--parallelism=1",
                "--resume-parallelism=4",
                "--checkpoint-interval=2s",
                "--savepoint-format=native",
                "--work-dir=here",
                "--keep"))
        .isNull();

    assertThat(options.backend.backend()).isEqualTo(Backend.ROCKSDB);
    assertThat(options.memory).isEqualTo(MemorySize.ofMebiBytes(64));
    assertThat(options.input).isEqualTo(Path.of("texts"));
    assertThat(options.words).isEqualTo(1_500_000);
    assertThat(options.parallelism).isEqualTo(1);
    assertThat(options.resumeParallelism).isEqualTo(4);
    assertThat(options.checkpointInterval).isEqualTo(Duration.ofSeconds(2));
    assertThat(options.savepointFormat).isEqualTo(SavepointFormatType.NATIVE);
    assertThat(options.workDir).isEqualTo(Path.of("here"));
    assertThat(options.keep).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--backend=oracle             | --backend             | faster, hashmap, rocksdb",
        "--memory=much                | --memory              | 1m to 1t",
        "--memory=10                  | --memory              | 1m to 1t",
        "--memory=2t                  | --memory              | 1m to 1t",
        "--words=99                   | --words               | 100 or more",
        "--words=9999999999999999999m | --words               | 100 or more",
        "--words=many                 | --words               | 100 or more",
        "--parallelism=0              | --parallelism         | 1 to 128",
        "--parallelism=two            | --parallelism         | 1 to 128",
        "--resume-parallelism=129     | --resume-parallelism  | 1 to 128",
        "--checkpoint-interval=1ms    | --checkpoint-interval | 10ms to 1h",
        "--checkpoint-interval=soon   | --checkpoint-interval | 10ms to 1h",
        "--savepoint-format=zip       | --savepoint-format    | canonical, native",
        "--checkpoint-rows=-1         | --checkpoint-rows     | 0 to 1000000",
        "--backend                    | --backend             | faster, hashmap or rocksdb",
        "--fast                       | --fast                | --backend, --memory",
        "file.txt                     | file.txt              | --input"
      })
  void aBadArgumentIsNamedWithWhatIsAllowed(String argument, String named, String allowed) {
    assertThat(parse(argument)).isEqualTo(DemoMain.BAD_ARGUMENTS);

    assertThat(err.toString()).contains(named).contains(allowed).contains("--help");
  }

  @Test
  void helpNamesEveryArgumentAndDefault() {
    assertThat(parse("--help")).isEqualTo(DemoMain.RIGHT);

    assertThat(out.toString())
        .contains(
            "--backend", "--memory", "--input", "--words", "--parallelism", "--resume-parallelism")
        .contains("--checkpoint-interval", "--savepoint-format", "--checkpoint-rows")
        .contains("--work-dir", "--keep", "--help")
        .contains("faster, hashmap or rocksdb", "Exit codes")
        .doesNotContain("${");
  }

  @Test
  void anInputThatIsNotThereIsNamed(@TempDir Path directory) {
    assertThatThrownBy(() -> InputChoice.find(directory.resolve("none"), directory))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--input=" + directory.resolve("none"));
    assertThatThrownBy(() -> InputChoice.find(null, directory))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("src.zip")
        .hasMessageContaining("--input <file|directory|zip>");
  }

  @Test
  void anInputThatCannotBeUsedIsNamed(@TempDir Path directory) throws Exception {
    Path few = Files.writeString(directory.resolve("few"), "only three words");
    Path broken = Files.writeString(directory.resolve("broken.zip"), "PK\3\4 but no more");

    assertThatThrownBy(() -> InputChoice.plan(few, 1_000))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("words=3, allowed=100 or more");
    assertThatThrownBy(() -> InputChoice.plan(broken, 1_000))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--input=" + broken);
  }

  @Test
  void memoryThatIsTooLittleForTheParallelismIsNamed() throws Exception {
    options.memory = MemorySize.ofMebiBytes(5);
    assertThatThrownBy(() -> MemoryNeed.check(options))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--memory=5")
        .hasMessageContaining("allowed=6");

    options.memory = MemorySize.ofMebiBytes(6);
    MemoryNeed.check(options);
    new CommandLine(options).parseArgs("--backend=rocksdb");
    options.memory = MemorySize.ofMebiBytes(1);
    MemoryNeed.check(options);
  }

  private @Nullable Integer parse(String... arguments) {
    return DemoMain.parse(
        options, arguments, new PrintWriter(out, true), new PrintWriter(err, true));
  }
}
