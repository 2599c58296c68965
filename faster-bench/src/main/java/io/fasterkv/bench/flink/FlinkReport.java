package io.fasterkv.bench.flink;

import io.fasterkv.bench.report.Goal;
import java.util.List;

/** Reports the results of a part, for people and for programs. */
interface FlinkReport {
  /** A table for people. */
  String table();

  /** Objects of the JSON file. */
  List<?> json();

  /** What the results are measured against. */
  List<Goal> goals();
}
