package io.fasterkv.demo.screen;

import io.fasterkv.bench.report.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/** The table of checkpoints at the end of a run. */
public final class CheckpointTable {
  private CheckpointTable() {}

  /**
   * Formats the table.
   *
   * @param all every checkpoint that has ended, by id
   * @param most maximum number of completed ones to show, spread evenly, besides all savepoints; 0
   *     for all
   */
  public static List<String> lines(List<CheckpointRow> all, int most) {
    List<String> lines = new ArrayList<>();
    List<CheckpointRow> complete = all.stream().filter(CheckpointRow::isComplete).toList();
    lines.add(line("id", "", "sync ms", "async ms", "total ms", "written", "state"));
    for (int i = 0; i < complete.size(); i++) {
      CheckpointRow row = complete.get(i);
      if (isShown(i, complete.size(), most) || row.isSavepoint()) {
        lines.add(line(row));
      }
    }
    if (!complete.isEmpty()) {
      lines.add(summary("median of " + complete.size(), complete, complete.size() / 2));
      lines.add(summary("highest", complete, complete.size() - 1));
    }
    int aborted = all.size() - complete.size();
    if (aborted > 0) {
      lines.add(aborted + " more were cut off by the failure, the savepoint or the end of a task");
    }
    return lines;
  }

  /**
   * Row {@code i} is the first of one of {@code most} equal shares of the rows, or the last row.
   */
  private static boolean isShown(int i, int rows, int most) {
    if (most == 0 || rows <= most || i == rows - 1) {
      return true;
    }
    long share = (long) i * most / rows;
    return i == 0 || share != (i - 1L) * most / rows;
  }

  private static String line(CheckpointRow row) {
    return line(
        Long.toString(row.id()),
        row.kind(),
        Long.toString(row.syncMillis()),
        Long.toString(row.asyncMillis()),
        Long.toString(row.totalMillis()),
        Sizes.bytes(row.bytes().written()),
        Sizes.bytes(row.bytes().state()));
  }

  /** Formats, for each column separately, the value that {@code rank} others do not exceed. */
  private static String summary(String name, List<CheckpointRow> rows, int rank) {
    return line(
        "",
        name,
        Long.toString(at(rows, CheckpointRow::syncMillis, rank)),
        Long.toString(at(rows, CheckpointRow::asyncMillis, rank)),
        Long.toString(at(rows, CheckpointRow::totalMillis, rank)),
        Sizes.bytes(at(rows, row -> row.bytes().written(), rank)),
        Sizes.bytes(at(rows, row -> row.bytes().state(), rank)));
  }

  private static long at(List<CheckpointRow> rows, ToLongFunction<CheckpointRow> column, int rank) {
    return rows.stream().mapToLong(column).sorted().skip(rank).findFirst().orElse(0);
  }

  private static String line(Object... cells) {
    return String.format(Locale.ROOT, "%6s  %-14s %8s %8s %8s %10s %10s", cells).stripTrailing();
  }
}
