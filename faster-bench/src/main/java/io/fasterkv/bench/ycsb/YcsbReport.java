package io.fasterkv.bench.ycsb;

import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TableAtEnd;
import io.fasterkv.bench.report.TextTable;
import java.util.List;
import java.util.Locale;

/** Reports results for people and for programs. */
public final class YcsbReport {
  private YcsbReport() {}

  /** A row of the JSON file; {@code mops} is the median over the rounds. */
  record JsonRow(
      String store,
      String workload,
      String distribution,
      long keys,
      int valueBytes,
      int threads,
      int batch,
      double mops,
      double mopsMin,
      double mopsMax,
      double bytesPerOp) {}

  /** The table of a run when it ends or is stopped. */
  public static TableAtEnd atEnd(YcsbRun run) {
    return TableAtEnd.of(() -> run.measured().isEmpty() ? "" : table(run.measured()));
  }

  /** A table with a line for each row. */
  public static String table(List<RowResult> results) {
    TextTable table =
        new TextTable(
            "store", "workload", "distribution", "threads", "batch", "Mops", "min", "max", "B/op");
    for (RowResult result : results) {
      RowSpec spec = result.spec();
      Spread mops = result.mops();
      table.add(
          spec.store().label(),
          spec.workload().label(),
          spec.distribution().label(),
          Integer.toString(spec.threads()),
          Integer.toString(spec.batch()),
          decimals(mops.median()),
          decimals(mops.min()),
          decimals(mops.max()),
          decimals(result.bytesPerOp()));
    }
    return table.toString();
  }

  static List<JsonRow> rows(List<RowResult> results, Data data) {
    return results.stream().map(result -> row(result, data)).toList();
  }

  private static JsonRow row(RowResult result, Data data) {
    RowSpec spec = result.spec();
    Spread mops = result.mops();
    return new JsonRow(
        spec.store().label(),
        spec.workload().label(),
        spec.distribution().label(),
        data.keys(),
        data.valueBytes(),
        spec.threads(),
        spec.batch(),
        mops.median(),
        mops.min(),
        mops.max(),
        result.bytesPerOp());
  }

  private static String decimals(double number) {
    return String.format(Locale.ROOT, "%.2f", number);
  }
}
