package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TextTable;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reports the rows of slow storage, for people and for programs, with their targets. */
final class SlowReport implements FlinkReport {
  private final List<SlowResult> results;

  SlowReport(List<SlowResult> results) {
    this.results = results;
  }

  /** A row as an object of the JSON file. */
  record JsonRow(
      String benchmark,
      String row,
      String backend,
      long stateBytes,
      int valueBytes,
      long memoryBytes,
      String unit,
      Spread measured,
      @Nullable Spread toRocksdb) {}

  @Override
  public List<JsonRow> json() {
    return results.stream()
        .map(result ->
            new JsonRow(
                "SlowStorageBenchmark",
                result.row().name(),
                result.backend().toString(),
                result.plan().state().stateBytes(),
                result.valueBytes(),
                result.plan().state().memoryBytes(),
                result.row().unit(),
                result.spread(),
                toRocksdb(result).orElse(null)))
        .toList();
  }

  /** A line for each row, length of values and backend. */
  @Override
  public String table() {
    TextTable table =
        new TextTable(
            "slow storage", "value", "backend", "measured", "min", "max", "unit", "x rocksdb");
    for (SlowResult result : results) {
      Spread spread = result.spread();
      table.add(
          result.row().name(),
          Integer.toString(result.valueBytes()),
          result.backend().toString(),
          TextTable.number(spread.median()),
          TextTable.number(spread.min()),
          TextTable.number(spread.max()),
          result.row().unit(),
          toRocksdb(result).map(ratio -> TextTable.number(ratio.median())).orElse("-"));
    }
    return table.toString();
  }

  @Override
  public List<Goal> goals() {
    return results.stream()
        .filter(result -> result.backend() == Backend.FASTER)
        .filter(result -> result.row().wanted(result.valueBytes()) > 0)
        .map(result ->
            Goal.atMost(
                result.row() + " to rocksdb, slow, " + result.valueBytes(),
                "x",
                result.row().wanted(result.valueBytes()),
                toRocksdb(result).orElse(null),
                ""))
        .toList();
  }

  private Optional<Spread> toRocksdb(SlowResult result) {
    return result.backend() == Backend.ROCKSDB
        ? Optional.empty()
        : results.stream()
            .filter(other -> other.backend() == Backend.ROCKSDB)
            .filter(other -> other.row() == result.row() && other.plan().equals(result.plan()))
            .findFirst()
            .map(result::times);
  }
}
