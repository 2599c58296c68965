package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TextTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reports the rows of state, for people and for programs, with their targets. */
final class StateReport implements FlinkReport {
  private static final Set<StateRow> AGAINST_HEAP = Set.of(StateRow.valueUpdate, StateRow.valueGet);

  private final FlinkPlan plan;
  private final List<StateResult> results;

  StateReport(FlinkPlan plan, List<StateResult> results) {
    this.plan = plan;
    this.results = results;
  }

  /** An object of the JSON file; ratios are null where the other backend was not measured. */
  record JsonRow(
      String benchmark,
      String row,
      String backend,
      String memory,
      long memoryBytes,
      int setUpKeys,
      int newKeys,
      String clock,
      double opsPerMilli,
      double opsPerMilliMin,
      double opsPerMilliMax,
      List<Double> opsPerMilliByRound,
      int disturbedTurns,
      double bytesPerOp,
      @Nullable Spread toHashmap,
      @Nullable Spread toRocksdb) {}

  @Override
  public List<JsonRow> json() {
    return results.stream()
        .map(result -> {
          Spread speed = result.perMilli();
          return new JsonRow(
              result.suite().benchmark(),
              result.row().name(),
              result.backend().toString(),
              result.memory().label(),
              result.memoryBytes(),
              plan.setUpKeys(),
              plan.newKeys(),
              plan.clock().name(),
              speed.median(),
              speed.min(),
              speed.max(),
              result.turns().stream().map(StateResult.Turn::perMilli).toList(),
              result.disturbedTurns(),
              result.bytesPerOp(),
              ratio(result, Backend.HASHMAP).orElse(null),
              ratio(result, Backend.ROCKSDB).orElse(null));
        })
        .toList();
  }

  /** A line for each row and backend. */
  @Override
  public String table() {
    TextTable table =
        new TextTable(
            "row", "memory", "backend", "ops/ms", "min", "max", "B/op", "x hashmap", "x rocksdb");
    for (StateResult result : results) {
      Spread speed = result.perMilli();
      table.add(
          result.label(),
          result.memory().label(),
          result.backend().toString(),
          number(speed.median()),
          number(speed.min()),
          number(speed.max()),
          number(result.bytesPerOp()),
          ratio(result, Backend.HASHMAP).map(StateReport::ratio).orElse("-"),
          ratio(result, Backend.ROCKSDB).map(StateReport::ratio).orElse("-"));
    }
    int disturbed = results.stream().mapToInt(StateResult::disturbedTurns).sum();
    return disturbed == 0
        ? table.toString()
        : table + "\nTurns that began while something else still went on: " + disturbed;
  }

  private Optional<Spread> ratio(StateResult result, Backend other) {
    return results.stream()
        .filter(each -> each.backend() == other && other != result.backend())
        .filter(result::isSameRow)
        .findFirst()
        .map(result::times);
  }

  /** The goals, with the row that is furthest from each. */
  @Override
  public List<Goal> goals() {
    List<Goal> goals = new ArrayList<>();
    add(goals, "rows in memory", 4, Backend.ROCKSDB, result -> !result.memory().isTenth());
    add(
        goals,
        "get and update of values in memory",
        0.5,
        Backend.HASHMAP,
        result ->
            !result.memory().isTenth()
                && result.suite() == Suite.VALUE
                && AGAINST_HEAP.contains(result.row()));
    add(
        goals,
        "point rows with ten times memory",
        2,
        Backend.ROCKSDB,
        result -> result.memory().isTenth() && result.row().isPoint());
    return goals;
  }

  private void add(
      List<Goal> goals, String name, double wanted, Backend other, Predicate<StateResult> which) {
    results.stream()
        .filter(result -> result.backend() == Backend.FASTER)
        .filter(which)
        .filter(result -> ratio(result, other).isPresent())
        .min(Comparator.comparingDouble(result -> ratio(result, other).orElseThrow().median()))
        .ifPresent(worst ->
            goals.add(
                Goal.atLeast(
                    name + ", against " + other,
                    wanted,
                    ratio(worst, other).orElseThrow(),
                    "the least: " + worst.label())));
  }

  private static String ratio(Spread spread) {
    return String.format(Locale.ROOT, "%.2f", spread.median());
  }

  private static String number(double number) {
    return String.format(Locale.ROOT, number < 100 ? "%.1f" : "%.0f", number);
  }
}
