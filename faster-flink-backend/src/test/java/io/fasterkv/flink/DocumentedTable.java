package io.fasterkv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A table in docs/FLINK.md that is generated from the code, between two comments with its name.
 * {@code -Dfaster.docs=write} writes the table; otherwise a test fails if it differs.
 */
public final class DocumentedTable {
  private static final Path FILE =
      Path.of(System.getProperty("basedir", "."), "..", "docs", "FLINK.md");

  private DocumentedTable() {}

  /** Writes the lines of a table, or asserts that the document contains them. */
  public static void check(String name, List<String> lines) throws IOException {
    String text = Files.readString(FILE);
    String begin = "<!-- begin of " + name + ": generated, see CONTRIBUTING.md -->\n";
    String end = "<!-- end of " + name + " -->";
    assertThat(text).contains(begin, end);
    int from = text.indexOf(begin) + begin.length();
    int until = text.indexOf(end);
    String table = String.join("\n", lines) + "\n";
    if ("write".equals(System.getProperty("faster.docs"))) {
      Files.writeString(FILE, text.substring(0, from) + table + text.substring(until));
    } else {
      assertThat(text.substring(from, until))
          .as(name + " in docs/FLINK.md; -Dfaster.docs=write writes it")
          .isEqualTo(table);
    }
  }
}
