package io.fasterkv.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CsvTest {
  @Test
  void textsAreQuotedWhenTheyHaveTo(@TempDir Path directory) throws IOException {
    Csv csv = new Csv("name", "value");
    csv.add("a \"b\", c", 7L);
    csv.add("plain", 1_234_567.0);

    csv.write(directory.resolve("x.csv"));

    assertThat(Files.readAllLines(directory.resolve("x.csv")))
        .containsExactly("name,value", "\"a \"\"b\"\", c\",7", "plain,1.23457e+06");
  }

  @Test
  void aRowThatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> new Csv("one", "two").add(1)).hasMessageContaining("cells=1");
  }
}
