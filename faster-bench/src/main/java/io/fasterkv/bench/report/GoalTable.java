package io.fasterkv.bench.report;

import java.util.List;
import java.util.Locale;

/** Formats goals for a terminal: measured, wanted, met or not. */
public final class GoalTable {
  private GoalTable() {}

  /**
   * The table of a run when it ends or is stopped.
   *
   * @param goals that the run adds to; safe for use by several threads
   */
  public static TableAtEnd atEnd(List<Goal> goals) {
    return TableAtEnd.of(() -> goals.isEmpty() ? "" : of(goals));
  }

  /** The table's lines. */
  public static String of(List<Goal> goals) {
    return table(goals).toString();
  }

  /** The table. */
  public static TextTable table(List<Goal> goals) {
    TextTable table = new TextTable("row", "measured", "min", "max", "wanted", "", "note");
    for (Goal goal : goals) {
      Spread measured = goal.measured();
      table.add(
          goal.name(),
          measured == null ? "-" : number(measured.median()),
          measured == null ? "-" : number(measured.min()),
          measured == null ? "-" : number(measured.max()),
          (goal.isUpperBound() ? "<= " : ">= ") + number(goal.wanted()) + " " + goal.unit(),
          goal.verdict(),
          goal.note());
    }
    return table;
  }

  private static String number(double number) {
    return String.format(Locale.ROOT, "%.2f", number);
  }
}
