package io.fasterkv.bench.nexmark;

import io.fasterkv.bench.nexmark.job.Digest;
import io.fasterkv.bench.nexmark.job.JobPlan;
import io.fasterkv.bench.nexmark.job.JobResult;
import io.fasterkv.bench.nexmark.job.Query;
import io.fasterkv.bench.nexmark.job.StateBackend;
import io.fasterkv.bench.report.Csv;
import io.fasterkv.bench.report.TextTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/** Reports the runs so far, for people and for programs. */
final class NexmarkReport {
  private static final List<StateBackend> PEERS =
      List.of(StateBackend.ROCKSDB, StateBackend.HASHMAP);
  private static final String NONE = "-";

  private final Figures figures;
  private final List<Measure> measures;

  NexmarkReport(List<Figures.Row> rows) {
    figures = new Figures(List.copyOf(rows));
    measures = Arrays.stream(Measure.values()).filter(figures::has).toList();
  }

  /**
   * An object of the JSON file.
   *
   * @param rows of the final result
   * @param resultHash of the final result, in hexadecimal
   */
  record JsonRow(
      String benchmark,
      String query,
      String backend,
      int round,
      JobPlan plan,
      long rows,
      String resultHash,
      JobResult result) {}

  /** An object for each run. */
  List<JsonRow> json() {
    return figures.rows().stream().map(NexmarkReport::json).toList();
  }

  private static JsonRow json(Figures.Row row) {
    Digest digest = row.result().digest();
    return new JsonRow(
        "nexmark",
        row.plan().query().toString(),
        row.plan().backend().toString(),
        row.round(),
        row.plan(),
        digest.rows(),
        Long.toHexString(digest.sum()),
        row.result());
  }

  /** Writes a line for each run. */
  void writeCsv(Path file) throws IOException {
    Csv csv =
        new Csv(
            Stream.concat(
                    Stream.of("query", "backend", "round"),
                    Arrays.stream(Measure.values()).map(Measure::label))
                .toArray(String[]::new));
    for (Figures.Row row : figures.rows()) {
      List<Object> cells = new ArrayList<>();
      cells.add(row.plan().query());
      cells.add(row.plan().backend());
      cells.add(row.round());
      for (Measure measure : Measure.values()) {
        Double figure = measure.of(row.result());
        cells.add(figure == null ? "" : figure);
      }
      csv.add(cells.toArray());
    }
    csv.write(file);
  }

  /** A row for each query and backend. */
  String table() {
    List<String> header = new ArrayList<>(List.of("query", "backend"));
    PEERS.forEach(peer -> header.add("to " + peer));
    measures.forEach(measure -> header.add(measure.label()));
    TextTable table = new TextTable(header.toArray(String[]::new));
    for (Query query : figures.queries()) {
      for (StateBackend backend : figures.backends()) {
        if (figures.has(query, backend)) {
          table.add(row(query, backend));
        }
      }
    }
    return table.toString();
  }

  private String[] row(Query query, StateBackend backend) {
    List<String> cells = new ArrayList<>(List.of(query.toString(), backend.toString()));
    for (StateBackend peer : PEERS) {
      cells.add(times(figures.ratio(query, backend, peer, Measure.THROUGHPUT)));
    }
    for (Measure measure : measures) {
      OptionalDouble median = figures.median(query, backend, measure);
      cells.add(median.isPresent() ? measure.format(median.getAsDouble()) : NONE);
    }
    return cells.toArray(String[]::new);
  }

  /** The geometric means of the stateful queries: each backend to each peer. */
  String means() {
    List<String> header = new ArrayList<>(List.of("backend", "to"));
    measures.forEach(measure -> header.add(measure.label()));
    TextTable table = new TextTable(header.toArray(String[]::new));
    for (StateBackend backend : figures.backends()) {
      for (StateBackend peer : PEERS) {
        if (backend != peer && figures.mean(backend, peer, Measure.THROUGHPUT).isPresent()) {
          List<String> cells = new ArrayList<>(List.of(backend.toString(), peer.toString()));
          measures.forEach(measure -> cells.add(times(figures.mean(backend, peer, measure))));
          table.add(cells.toArray(String[]::new));
        }
      }
    }
    return table.toString();
  }

  private static String times(OptionalDouble ratio) {
    return ratio.isPresent() ? String.format(Locale.ROOT, "%.2fx", ratio.getAsDouble()) : NONE;
  }
}
