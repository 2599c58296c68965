package io.fasterkv.bench.start;

import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Reports costs: medians over the rounds, and ratios within the rounds. */
final class StartReport {
  private static final String NONE = "-";

  /** Where both are faster than this, a ratio says nothing. */
  private static final double LEAST_MILLIS = 0.5;

  private final List<Row> rows;

  /** A cost, as an object of the JSON file has it. */
  record Row(int round, Subject subject, Cost cost) {}

  StartReport(List<Row> rows) {
    this.rows = List.copyOf(rows);
  }

  /** A line for each step of each subject. */
  String table() {
    if (rows.isEmpty()) {
      return "";
    }
    TextTable table =
        new TextTable(
            "subject",
            "step",
            "ms",
            "min",
            "max",
            "cpu ms",
            "compile ms",
            "classes",
            "to heap",
            "to rocksdb");
    for (Subject subject : rows.stream().map(Row::subject).distinct().sorted().toList()) {
      of(subject).map(row -> row.cost.step()).distinct().forEach(step -> add(subject, step, table));
    }
    return table.toString();
  }

  private void add(Subject subject, String step, TextTable table) {
    Spread millis = Spread.of(figures(subject, step, Cost::millis));
    table.add(
        subject.toString(),
        step,
        number(millis.median()),
        number(millis.min()),
        number(millis.max()),
        median(subject, step, Cost::cpuMillis),
        median(subject, step, Cost::compilationMillis),
        median(subject, step, Cost::classes),
        ratio(subject, step, subject.onHeap()),
        subject.isBackend() ? ratio(subject, step, Subject.ROCKSDB) : NONE);
  }

  private String median(Subject subject, String step, ToDoubleFunction<Cost> of) {
    return number(Spread.of(figures(subject, step, of)).median());
  }

  private String ratio(Subject subject, String step, Subject against) {
    List<Double> ratios = new ArrayList<>();
    of(subject, step)
        .forEach(row ->
            of(against, step)
                .filter(other -> other.round == row.round)
                .filter(other -> other.cost.millis() >= LEAST_MILLIS)
                .forEach(other -> ratios.add(row.cost.millis() / other.cost.millis())));
    return subject == against || ratios.isEmpty()
        ? NONE
        : String.format(Locale.ROOT, "%.2fx", Spread.of(ratios).median());
  }

  private List<Double> figures(Subject subject, String step, ToDoubleFunction<Cost> of) {
    return of(subject, step).map(row -> of.applyAsDouble(row.cost)).toList();
  }

  private Stream<Row> of(Subject subject) {
    return rows.stream().filter(row -> row.subject == subject);
  }

  private Stream<Row> of(Subject subject, String step) {
    return of(subject).filter(row -> row.cost.step().equals(step));
  }

  private static String number(double number) {
    return String.format(Locale.ROOT, "%.0f", number);
  }
}
