package io.fasterkv.bench.runs;

import io.fasterkv.bench.job.BenchJob;
import io.fasterkv.bench.job.Digest;
import io.fasterkv.bench.job.JobPlan;
import io.fasterkv.bench.job.JobResult;
import io.fasterkv.bench.job.JobSuite;
import io.fasterkv.bench.job.StateBackend;
import io.fasterkv.bench.profile.HotFrames;
import io.fasterkv.bench.report.Csv;
import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.GoalTable;
import io.fasterkv.bench.report.TextTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Stream;

/** Reports the runs so far, for people and for programs. */
final class RunReport {
  private static final List<StateBackend> PEERS =
      List.of(StateBackend.ROCKSDB, StateBackend.HASHMAP);
  private static final String NONE = "-";
  static final String MEDIANS = "Medians over the rounds";
  static final String MEANS = "Geometric means of the ratios over the stateful jobs";
  static final String GOALS = "Goals for the backend of this project, in the stateful jobs";
  static final String FRAMES =
      "Hottest frames of the backend and the store, as shares of the samples of Java code";

  private final JobSuite suite;
  private final Figures figures;

  RunReport(JobSuite suite, List<Figures.Row> rows) {
    this.suite = suite;
    figures = new Figures(List.copyOf(rows));
  }

  /**
   * An object of the JSON file.
   *
   * @param rows of the final result
   * @param resultHash of the final result, in hexadecimal
   */
  record JsonRow(
      String benchmark,
      String job,
      String backend,
      int round,
      JobPlan plan,
      long rows,
      String resultHash,
      JobResult result) {}

  /** An object for each run. */
  List<JsonRow> json() {
    return figures.rows().stream().map(this::json).toList();
  }

  private JsonRow json(Figures.Row row) {
    Digest digest = row.result().digest();
    return new JsonRow(
        suite.name(),
        row.plan().job().toString(),
        row.plan().backend().toString(),
        row.round(),
        row.plan(),
        digest.rows(),
        Long.toHexString(digest.sum()),
        row.result());
  }

  /** Writes tables and plots. */
  void writePage(Path file) throws IOException {
    new RunPage(suite, this, figures).page().write(file);
  }

  /** Writes a line for each run. */
  void writeCsv(Path file) throws IOException {
    Csv csv =
        new Csv(
            Stream.concat(
                    Stream.of(suite.jobTitle(), "backend", "round"),
                    Arrays.stream(Measure.values()).map(Measure::label))
                .toArray(String[]::new));
    for (Figures.Row row : figures.rows()) {
      List<Object> cells = new ArrayList<>();
      cells.add(row.plan().job());
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

  /** All tables, or nothing while there are no runs. */
  String text() {
    if (figures.rows().isEmpty()) {
      return "";
    }
    List<String> parts = new ArrayList<>();
    medians().forEach((title, table) -> parts.add(title + System.lineSeparator() + table));
    means().forEach((title, table) -> parts.add(title + System.lineSeparator() + table));
    List<Goal> goals = RunGoals.of(figures);
    if (!goals.isEmpty()) {
      parts.add(GOALS + System.lineSeparator() + GoalTable.of(goals));
    }
    if (!framesTable().rows().isEmpty()) {
      parts.add(FRAMES + System.lineSeparator() + framesTable());
    }
    return String.join(System.lineSeparator().repeat(2), parts);
  }

  /** The hottest frames of each job's newest profile. */
  TextTable framesTable() {
    TextTable table = new TextTable(suite.jobTitle(), "backend", "frame", "share", "self");
    for (BenchJob job : figures.jobs()) {
      for (StateBackend backend : figures.backends()) {
        figures
            .newest(job, backend)
            .map(Figures.Row::result)
            .map(JobResult::profile)
            .ifPresent(profile -> add(job, backend, profile, table));
      }
    }
    return table;
  }

  private static void add(BenchJob job, StateBackend backend, HotFrames profile, TextTable table) {
    for (HotFrames.Frame frame : profile.frames()) {
      table.add(
          job.toString(),
          backend.toString(),
          frame.method(),
          percent(frame.share()),
          percent(frame.selfShare()));
    }
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f%%", share * 100);
  }

  /** The tables of medians by their titles. */
  Map<String, TextTable> medians() {
    return tables(MEDIANS, this::mediansTable);
  }

  /** The tables of means by their titles. */
  Map<String, TextTable> means() {
    return tables(MEANS, this::meansTable);
  }

  /** A table for each part of the figures that has any. */
  private static Map<String, TextTable> tables(
      String title, Function<Measure.Part, TextTable> tableOf) {
    Map<String, TextTable> tables = new LinkedHashMap<>();
    for (Measure.Part part : Measure.Part.values()) {
      TextTable table = tableOf.apply(part);
      if (!table.rows().isEmpty()) {
        tables.put(title + ": " + part, table);
      }
    }
    return tables;
  }

  private List<Measure> measures(Measure.Part part) {
    return Arrays.stream(Measure.values())
        .filter(measure -> measure.part() == part)
        .filter(figures::has)
        .toList();
  }

  /** The peers to which a job's throughput is compared in a part. */
  private static List<StateBackend> peers(Measure.Part part) {
    return part == Measure.Part.SPEED ? PEERS : List.of();
  }

  /** A row for each job and backend. */
  private TextTable mediansTable(Measure.Part part) {
    List<Measure> measures = measures(part);
    List<String> header = new ArrayList<>(List.of(suite.jobTitle(), "backend"));
    peers(part).forEach(peer -> header.add("to " + peer));
    measures.forEach(measure -> header.add(measure.label()));
    TextTable table = new TextTable(header.toArray(String[]::new));
    for (BenchJob job : figures.jobs()) {
      for (StateBackend backend : figures.backends()) {
        if (!measures.isEmpty() && figures.has(job, backend)) {
          table.add(row(job, backend, part));
        }
      }
    }
    return table;
  }

  private String[] row(BenchJob job, StateBackend backend, Measure.Part part) {
    List<String> cells = new ArrayList<>(List.of(job.toString(), backend.toString()));
    for (StateBackend peer : peers(part)) {
      cells.add(times(figures.ratio(job, backend, peer, Measure.THROUGHPUT)));
    }
    for (Measure measure : measures(part)) {
      OptionalDouble median = figures.median(job, backend, measure);
      cells.add(median.isPresent() ? measure.format(median.getAsDouble()) : NONE);
    }
    return cells.toArray(String[]::new);
  }

  /** The geometric means of the stateful jobs: each backend to each peer. */
  private TextTable meansTable(Measure.Part part) {
    List<Measure> measures = measures(part);
    List<String> header = new ArrayList<>(List.of("backend", "to"));
    measures.forEach(measure -> header.add(measure.label()));
    TextTable table = new TextTable(header.toArray(String[]::new));
    for (StateBackend backend : figures.backends()) {
      for (StateBackend peer : PEERS) {
        if (backend != peer && hasMeans(backend, peer, measures)) {
          List<String> cells = new ArrayList<>(List.of(backend.toString(), peer.toString()));
          measures.forEach(measure -> cells.add(times(figures.mean(backend, peer, measure))));
          table.add(cells.toArray(String[]::new));
        }
      }
    }
    return table;
  }

  private boolean hasMeans(StateBackend backend, StateBackend peer, List<Measure> measures) {
    return measures.stream().anyMatch(measure -> figures.mean(backend, peer, measure).isPresent());
  }

  private static String times(OptionalDouble ratio) {
    return ratio.isPresent() ? String.format(Locale.ROOT, "%.2fx", ratio.getAsDouble()) : NONE;
  }
}
