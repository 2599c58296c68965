package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.TextTable;
import java.util.List;
import java.util.Locale;

/** Reports many checkpoints of small state, for people and for programs. */
final class GrowthReport implements FlinkReport {
  private final List<GrowthResult> results;

  GrowthReport(List<GrowthResult> results) {
    this.results = results;
  }

  /** A checkpoint as an object of the JSON file. */
  record JsonRow(
      String benchmark,
      String row,
      String backend,
      long checkpoint,
      long namedBytes,
      int files,
      long uploadedBytes) {}

  @Override
  public List<JsonRow> json() {
    return results.stream()
        .map(each ->
            new JsonRow(
                "CheckpointGrowthBenchmark",
                each.state().name(),
                each.backend().toString(),
                each.checkpoint(),
                each.namedBytes(),
                each.files(),
                each.uploadedBytes()))
        .toList();
  }

  /** A line for each state, backend and checkpoint. */
  @Override
  public String table() {
    TextTable table =
        new TextTable("small state", "backend", "checkpoint", "KB", "files", "KB uploaded so far");
    for (GrowthResult result : results) {
      Backend backend = result.backend();
      table.add(
          result.state().name(),
          backend.toString(),
          Long.toString(result.checkpoint()),
          kilobytes(result.namedBytes()),
          Integer.toString(result.files()),
          kilobytes(result.uploadedBytes()));
    }
    return table.toString();
  }

  private static String kilobytes(long bytes) {
    return String.format(Locale.ROOT, "%.1f", bytes / 1e3);
  }

  @Override
  public List<Goal> goals() {
    return List.of();
  }
}
