package io.fasterkv.bench.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.BenchMain;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

class JobsCommandTest {
  @ParameterizedTest
  @CsvSource({
    "--jobs=q4,session-windows",
    "--backends=heap,hashmap",
    "--events=1,1k to 1g",
    "--failures=2,below 1"
  })
  void argumentsOutOfRangeSayWhatIsAllowed(String argument, String allowed) {
    StringWriter errors = new StringWriter();
    CommandLine command = BenchMain.commandLine().setErr(new PrintWriter(errors));
    assertThat(command.execute("jobs", argument)).isEqualTo(2);
    assertThat(errors.toString()).contains(allowed);
  }

  @ParameterizedTest
  @EnumSource
  void theHelpNamesEachJob(StreamJob job) {
    CommandLine command = BenchMain.commandLine().getSubcommands().get("jobs");
    assertThat(command.getUsageMessage().replaceAll("\\s+", " ")).contains(job.toString());
  }
}
