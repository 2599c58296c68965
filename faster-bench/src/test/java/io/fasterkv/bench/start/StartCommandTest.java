package io.fasterkv.bench.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.bench.BenchMain;
import io.fasterkv.bench.workload.WrongAnswer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class StartCommandTest {
  @TempDir Path directory;

  @Tag("slow")
  @Test
  void eachStepOfEachSubjectHasItsCost() {
    Path json = directory.resolve("costs.json");
    int exit =
        BenchMain.commandLine()
            .execute(
                "start",
                "--quick",
                "--subjects=map,store,faster",
                "--stores=2",
                "--memory=8m",
                "--directory=" + directory.resolve("work"),
                "--json=" + json);
    assertThat(exit).isZero();
    assertThat(json)
        .content()
        .contains("\"subject\" : \"FASTER\"", Cost.JVM, StartPlan.OPEN_MORE, StartPlan.RESTORE);
  }

  @Test
  void ratiosAreThoseOfARound() {
    StartReport report =
        new StartReport(
            List.of(
                row(1, Subject.FASTER, 10),
                row(1, Subject.HASHMAP, 5),
                row(1, Subject.ROCKSDB, 40),
                row(2, Subject.FASTER, 30),
                row(2, Subject.HASHMAP, 10),
                row(2, Subject.ROCKSDB, 40)));
    assertThat(report.table().lines().toList().get(1).split(" {2,}"))
        .containsExactly("faster", "restore", "20", "10", "30", "1", "2", "3", "2.50x", "0.50x");
  }

  private static StartReport.Row row(int round, Subject subject, double millis) {
    return new StartReport.Row(round, subject, new Cost(StartPlan.RESTORE, millis, 1, 2, 3));
  }

  @Test
  void countsThatDoNotAddUpAreWrong() {
    assertThatThrownBy(() -> Steps.check(199, 100, 2))
        .isInstanceOf(WrongAnswer.class)
        .hasMessageContaining("sum=199, expected=200");
  }

  @ParameterizedTest
  @CsvSource({"--calls=0,1 to 1000000", "--stores=65,1 to 64", "--subjects=heap,store"})
  void argumentsOutOfRangeAreRefused(String argument, String allowed) {
    StringWriter errors = new StringWriter();
    CommandLine command = BenchMain.commandLine().setErr(new PrintWriter(errors));
    assertThat(command.execute("start", argument)).isEqualTo(2);
    assertThat(errors.toString()).contains(allowed);
  }
}
