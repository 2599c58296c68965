package io.fasterkv.inject;

import io.fasterkv.inject.Point.Kind;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/** The progress of a campaign. */
final class Counts {
  private final Map<Kind, Integer> points = new EnumMap<>(Kind.class);
  private final Map<String, Integer> errors = new TreeMap<>();
  private int runs;
  private int unreached;
  private int failed;
  private int succeeded;
  private int recoveries;
  private int faulty;
  private int hanging;

  void point(Point point) {
    points.merge(point.kind(), 1, Integer::sum);
  }

  void add(Order order, Report report) {
    runs++;
    errors.merge(order.error().getSimpleName(), report.thrown(), Integer::sum);
    unreached += report.thrown() == 0 ? 1 : 0;
    failed += report.failed();
    succeeded += report.succeeded();
    recoveries += report.recoveries();
    faulty += report.faults().isEmpty() ? 0 : 1;
    hanging += report.hangs() ? 1 : 0;
  }

  @Override
  public String toString() {
    return "points="
        + points
        + ", runs="
        + runs
        + ", errors thrown="
        + errors
        + ", runs that did not get there="
        + unreached
        + ", calls that ended with the cause="
        + failed
        + ", calls that went on="
        + succeeded
        + ", recoveries checked="
        + recoveries
        + ", runs with faults="
        + faulty
        + ", of these that hung="
        + hanging;
  }
}
