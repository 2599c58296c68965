package io.fasterkv.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.demo.screen.PlainScreen;
import io.fasterkv.demo.text.SomeText;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Runs the whole demo on a small input: failure, recovery, savepoint, rescale, verdict. */
@Tag("long")
class DemoRunTest {
  private static final int FILES = 40;
  private static final int WORDS_IN_FILE = 500;

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"HASHMAP, CANONICAL, 2, 3", "FASTER, CANONICAL, 2, 3", "FASTER, NATIVE, 3, 1"})
  void everyCountIsRight(Backend backend, SavepointFormatType format, int before, int after)
      throws Exception {
    Path input = directory.resolve("input");
    SomeText.files(input, FILES, WORDS_IN_FILE);
    DemoOptions options = new DemoOptions();
    new CommandLine(options).parseArgs("--backend=" + backend);
    options.input = input;
    options.memory = MemorySize.ofMebiBytes(8);
    options.savepointFormat = format;
    options.parallelism = before;
    options.resumeParallelism = after;
    options.checkpointInterval = Duration.ofMillis(50);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, UTF_8);
    WorkDirectory run = WorkDirectory.create(directory.resolve("work"));

    boolean right = new DemoRun(options, run.path(), out).run(new PlainScreen(out));
    run.delete();

    assertThat(bytes.toString(UTF_8))
        .contains("a task was failed on purpose")
        .contains("recovered from checkpoint")
        .contains("stopping with a " + format.name().toLowerCase(Locale.ROOT))
        .contains("resumed from the savepoint at parallelism " + after)
        .contains("OK: 20,000 words, ")
        .contains("all counts right");
    assertThat(right).isTrue();
  }
}
