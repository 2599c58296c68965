package io.fasterkv.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A table for programs: values separated by commas, the first line names the columns. */
public final class Csv {
  private final int columns;
  private final List<String> lines = new ArrayList<>();

  /** A table with these columns. */
  public Csv(String... header) {
    columns = header.length;
    add((Object[]) header);
  }

  /** Adds a row, with a cell for each column. */
  public void add(Object... cells) {
    if (cells.length != columns) {
      throw new IllegalArgumentException(
          "a row does not fit its table: cells=" + cells.length + ", allowed=" + columns);
    }
    List<String> texts = new ArrayList<>();
    for (Object cell : cells) {
      texts.add(text(cell));
    }
    lines.add(String.join(",", texts));
  }

  /** Writes it; makes the directory when it is missing. */
  public void write(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (directory != null) {
      Files.createDirectories(directory);
    }
    Files.write(file, lines);
  }

  private static String text(Object cell) {
    if (cell instanceof Double number) {
      return String.format(Locale.ROOT, "%.6g", number);
    }
    String text = String.valueOf(cell);
    return text.matches("[^,\"\r\n]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
