package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Opens and loads the operators of each row on each backend anew in each round, and then uses them,
 * backend after backend and row after row.
 */
final class SlotRun {
  private final SlotPlan plan;
  private final WorkDirectory work;
  private final Map<SlotRow, Map<Backend, List<SlotState.Turn>>> turns =
      new EnumMap<>(SlotRow.class);

  SlotRun(SlotPlan plan, WorkDirectory work) {
    this.plan = plan;
    this.work = work;
  }

  /** The number of steps that {@link #run} reports. */
  static int steps(SlotPlan plan) {
    return plan.rounds() * SlotRow.values().length * plan.backends().size();
  }

  List<SlotResult> run(Progress progress) throws Exception {
    for (int round = 1; round <= plan.rounds(); round++) {
      for (SlotRow row : SlotRow.values()) {
        for (Backend kind : plan.backends()) {
          progress.begin("round " + round + ", " + row + ", " + kind);
          turns
              .computeIfAbsent(row, any -> new EnumMap<>(Backend.class))
              .computeIfAbsent(kind, any -> new ArrayList<>())
              .add(measure(row, kind));
          progress.step();
        }
      }
    }
    List<SlotResult> results = new ArrayList<>();
    turns.forEach((row, byBackend) ->
        byBackend.forEach((kind, each) -> results.add(new SlotResult(plan, row, kind, each))));
    return results;
  }

  private SlotState.Turn measure(SlotRow row, Backend kind) throws Exception {
    Path directory = work.directory(kind + "-slot");
    try (SlotState state = new SlotState(plan, row, kind, directory)) {
      Quiet.awaitWithDisk();
      SlotState.Turn unused = state.run(plan.turnNanos());
      return state.run(plan.turnNanos());
    } finally {
      work.delete(directory);
    }
  }
}
