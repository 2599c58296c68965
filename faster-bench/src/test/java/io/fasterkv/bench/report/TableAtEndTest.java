package io.fasterkv.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.process.Commands;
import java.io.BufferedReader;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class TableAtEndTest {
  private static final String READY = "ready";

  /** A command that has measured two rows when it is stopped, or ends. */
  static final class Command {
    public static void main(String[] arguments) throws Exception {
      List<String> rows = new CopyOnWriteArrayList<>();
      try (TableAtEnd atEnd =
          TableAtEnd.of(() -> String.join(",", rows), () -> System.out.println("aborted"))) {
        rows.add("one");
        rows.add("two");
        System.out.println(READY);
        if (arguments.length == 0) {
          Thread.sleep(60_000);
        }
      }
      System.exit(0);
    }
  }

  private static List<String> output(boolean isStopped) throws Exception {
    Process process =
        new ProcessBuilder(
                Commands.java(Command.class, List.of(), isStopped ? List.of() : List.of("end")))
            .start();
    try (BufferedReader lines = process.inputReader()) {
      assertThat(lines.readLine()).isEqualTo(READY);
      if (isStopped) {
        process.toHandle().destroy(); // destroy() of the process closes its output
      }
      return lines.lines().toList();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aStoppedCommandPrintsTheRowsSoFar() throws Exception {
    assertThat(output(true)).containsExactly("one,two", "aborted");
  }

  @Test
  void aCommandThatEndsPrintsItsRowsOnce() throws Exception {
    assertThat(output(false)).containsExactly("one,two");
  }
}
