package io.fasterkv.bench.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.bench.report.Spread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FioTest {
  private static final String REPORT =
      """
      note: both iodepth >= 1 and synchronous I/O engine are selected
      {
        "jobs" : [ {
          "read" : { "iops" : 12345.5 },
          "write" : { "bw_bytes" : 99000000 }
        } ]
      }
      """;

  @TempDir private Path directory;

  /** Replaces fio with a script. */
  private Fio fio(String script) throws IOException {
    Path program = Files.writeString(directory.resolve("fio"), "#!/bin/sh\n" + script);
    assertThat(program.toFile().setExecutable(true)).isTrue();
    return new Fio(program, directory.resolve("data"), 1 << 20);
  }

  @Test
  void findsTheFiguresAfterNotes() throws IOException {
    Fio fio = fio("cat <<'END'\n" + REPORT + "END\n");

    assertThat(fio.randomReads(32, Duration.ofSeconds(1))).isEqualTo(12345.5);
    assertThat(fio.sequentialWrites(Duration.ofSeconds(1))).isEqualTo(99e6);
  }

  @Test
  void asksForDirectReadsAtTheDepth() throws IOException {
    Fio fio = fio("echo \"$@\" > " + directory + "/arguments\ncat <<'END'\n" + REPORT + "END\n");

    fio.randomReads(17, Duration.ofMillis(1500));

    assertThat(Files.readString(directory.resolve("arguments")))
        .contains("--direct=1", "--rw=randread", "--bs=4k", "--iodepth=17", "--runtime=1500ms");
  }

  @Test
  void aRunThatFailsSaysWhatFioSaid() throws IOException {
    Fio fio = fio("echo no such engine\nexit 3\n");

    assertThatThrownBy(() -> fio.randomReads(1, Duration.ofSeconds(1)))
        .hasMessageContaining("exit=3")
        .hasMessageContaining("no such engine");
  }

  @Test
  void aReportWithoutAJobIsRefused() {
    assertThatThrownBy(() -> Fio.job("{}")).hasMessageContaining("no job");
    assertThatThrownBy(() -> Fio.job("nothing")).hasMessageContaining("no job");
  }

  @Test
  void withoutFioThereIsNoRatio() {
    assertThat(new DiskRow("reads", "k/s", List.of(1.0), List.of()).ratio()).isEmpty();
    assertThat(new DiskRow("reads", "k/s", List.of(1.0, 3.0, 2.0), List.of(2.0, 3.0, 8.0)).ratio())
        .contains(new Spread(0.5, 0.25, 1));
  }
}
