package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Reports operators that share a slot, for people and for programs, with their targets. */
final class SlotReport implements FlinkReport {
  private final List<SlotResult> results;

  SlotReport(List<SlotResult> results) {
    this.results = results;
  }

  /** A row as an object of the JSON file. */
  record JsonRow(
      String benchmark,
      String row,
      String backend,
      long memoryBytes,
      Spread opsPerMilli,
      Spread hitRate,
      @Nullable Spread toRocksdb) {}

  @Override
  public List<JsonRow> json() {
    return results.stream()
        .map(result ->
            new JsonRow(
                "SlotBenchmark",
                result.row().name(),
                result.backend().toString(),
                result.plan().memoryBytes(),
                result.spread(),
                result.hits(),
                toRocksdb(result).orElse(null)))
        .toList();
  }

  /** A line for each row and backend. */
  @Override
  public String table() {
    TextTable table =
        new TextTable("slot", "backend", "ops/ms", "min", "max", "hits %", "x rocksdb");
    for (SlotResult result : results) {
      Spread spread = result.spread();
      table.add(
          result.row().name(),
          result.backend().toString(),
          TextTable.number(spread.median()),
          TextTable.number(spread.min()),
          TextTable.number(spread.max()),
          result.backend() == Backend.FASTER ? TextTable.number(100 * result.hits().median()) : "-",
          toRocksdb(result).map(ratio -> TextTable.number(ratio.median())).orElse("-"));
    }
    return table.toString();
  }

  @Override
  public List<Goal> goals() {
    List<Goal> goals = new ArrayList<>();
    of(SlotRow.zipfHotFirst, Backend.FASTER)
        .flatMap(this::toRocksdb)
        .ifPresent(ratio -> goals.add(Goal.atLeast("30 operators to rocksdb", 2, ratio, "")));
    ratio(SlotRow.zipfHotLast, SlotRow.zipfHotFirst, SlotResult::times)
        .ifPresent(ratio -> goals.add(Goal.atLeast("opened in reverse order", 0.95, ratio, "")));
    ratio(SlotRow.oneOfFive, SlotRow.alone, SlotResult::timesHits)
        .ifPresent(ratio -> goals.add(Goal.atLeast("hits, one of five to alone", 0.9, ratio, "")));
    return goals;
  }

  private Optional<Spread> ratio(
      SlotRow row, SlotRow other, BiFunction<SlotResult, SlotResult, Spread> ratio) {
    return of(row, Backend.FASTER)
        .flatMap(result -> of(other, Backend.FASTER).map(base -> ratio.apply(result, base)));
  }

  private Optional<Spread> toRocksdb(SlotResult result) {
    return result.backend() == Backend.ROCKSDB
        ? Optional.empty()
        : of(result.row(), Backend.ROCKSDB).map(result::times);
  }

  private Optional<SlotResult> of(SlotRow row, Backend kind) {
    return results.stream()
        .filter(result -> result.row() == row && result.backend() == kind)
        .findFirst();
  }
}
