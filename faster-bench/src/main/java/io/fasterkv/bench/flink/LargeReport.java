package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reports the rows of large state, for people and for programs, with their targets. */
final class LargeReport implements FlinkReport {
  private final LargePlan plan;
  private final List<LargeResult> results;

  LargeReport(LargePlan plan, List<LargeResult> results) {
    this.plan = plan;
    this.results = results;
  }

  /** An object of the JSON file. */
  record JsonRow(
      String benchmark,
      String row,
      String backend,
      long stateBytes,
      long memoryBytes,
      long changedBytes,
      String unit,
      Spread measured,
      @Nullable Spread toRocksdb) {}

  @Override
  public List<JsonRow> json() {
    return results.stream()
        .map(result ->
            new JsonRow(
                result.row().isRestore() ? "RescalingBenchmark" : "CheckpointBenchmark",
                result.row().name(),
                result.backend().toString(),
                plan.stateBytes(),
                plan.memoryBytes(),
                plan.changedBytes(),
                result.row().unit(),
                result.spread(),
                toRocksdb(result).orElse(null)))
        .toList();
  }

  /** A line for each row and backend. */
  @Override
  public String table() {
    TextTable table =
        new TextTable("row", "backend", "measured", "min", "max", "unit", "x rocksdb");
    for (LargeResult result : results) {
      Spread spread = result.spread();
      table.add(
          result.row().name(),
          result.backend().toString(),
          TextTable.number(spread.median()),
          TextTable.number(spread.min()),
          TextTable.number(spread.max()),
          result.row().unit(),
          toRocksdb(result).map(ratio -> TextTable.number(ratio.median())).orElse("-"));
    }
    return table.toString();
  }

  private Optional<Spread> toRocksdb(LargeResult result) {
    return result.backend() == Backend.ROCKSDB
        ? Optional.empty()
        : find(result.row(), Backend.ROCKSDB).map(result::times);
  }

  private Optional<LargeResult> find(LargeRow row, Backend backend) {
    return results.stream()
        .filter(result -> result.row() == row && result.backend() == backend)
        .findFirst();
  }

  @Override
  public List<Goal> goals() {
    List<Goal> goals = new ArrayList<>();
    for (LargeRow row : LargeRow.values()) {
      Optional<LargeResult> faster = find(row, Backend.FASTER);
      faster
          .map(result ->
              switch (row) {
                case synchronousPhase ->
                    Goal.atMost("synchronous phase", "ms", 10, result.spread(), "");
                case uploadedToChanged ->
                    Goal.atMost("uploaded to changed bytes", "x", 1.1, result.spread(), "");
                case latencyToSteady ->
                    Goal.atMost(
                        "p99.9 during a checkpoint to without", "x", 2, result.spread(), "");
                case restore, rescaleOut, rescaleIn ->
                    Goal.atMost(row + " to rocksdb", "x", 0.5, toRocksdb(result).orElse(null), "");
                case checkpointTime -> null;
              })
          .ifPresent(goals::add);
    }
    return goals;
  }
}
