package io.fasterkv.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A table for a terminal: columns as wide as their widest cell, numbers to the right. */
public final class TextTable {
  private static final String GAP = "  ";

  private final List<String> header;
  private final List<List<String>> rows = new ArrayList<>();

  /** A table with these columns. */
  public TextTable(String... header) {
    this.header = List.of(header);
  }

  /** Adds a row, with a cell for each column. */
  public void add(String... cells) {
    if (cells.length != header.size()) {
      throw new IllegalArgumentException(
          "a row does not fit its table: cells=" + cells.length + ", allowed=" + header.size());
    }
    rows.add(List.of(cells));
  }

  /** The columns. */
  public List<String> header() {
    return header;
  }

  /** The rows so far. */
  public List<List<String>> rows() {
    return rows;
  }

  /** The table's lines, the header first. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(line(header));
    for (List<String> row : rows) {
      text.append(System.lineSeparator()).append(line(row));
    }
    return text.toString();
  }

  private String line(List<String> cells) {
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < cells.size(); column++) {
      String cell = cells.get(column);
      String space = " ".repeat(width(column) - cell.length());
      line.append(column == 0 ? "" : GAP).append(isNumeric(column) ? space + cell : cell + space);
    }
    return line.toString().stripTrailing();
  }

  private int width(int column) {
    int width = header.get(column).length();
    for (List<String> row : rows) {
      width = Math.max(width, row.get(column).length());
    }
    return width;
  }

  private boolean isNumeric(int column) {
    return !rows.isEmpty() && rows.stream().allMatch(row -> row.get(column).matches("[-0-9.,x%]*"));
  }

  /** A number with two decimals if it is below 100, else with none. */
  public static String number(double number) {
    return String.format(Locale.ROOT, number < 100 ? "%.2f" : "%.0f", number);
  }
}
