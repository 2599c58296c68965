package io.fasterkv.bench.soak;

import io.fasterkv.bench.report.Goal;
import io.fasterkv.bench.report.LinePlot;
import io.fasterkv.bench.report.Spread;
import io.fasterkv.bench.report.TextTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Reports the samples as a table, and whether the last third of them is like the middle third. */
final class SoakReport {
  private static final int LINES = 20;

  private final List<SoakSample> samples;

  SoakReport(List<SoakSample> samples) {
    this.samples = samples;
  }

  /** A table of some of the samples, evenly spread. */
  String table() {
    if (samples.isEmpty()) {
      return "";
    }
    TextTable table =
        new TextTable(
            "s",
            "records/s",
            "p50 us",
            "p99.9 us",
            "max us",
            "checkpoint ms",
            "resident MiB",
            "local MiB",
            "checkpoint MiB",
            "files",
            "uploaded MiB");
    int step = Math.max(1, samples.size() / LINES);
    for (int i = step - 1; i < samples.size(); i += step) {
      SoakSample sample = samples.get(i);
      table.add(
          number(sample.seconds()),
          number(sample.recordsPerSecond()),
          number(sample.medianMicros()),
          number(sample.tailMicros()),
          number(sample.highestMicros()),
          number(sample.checkpointMillis()),
          mebibytes(sample.residentBytes()),
          mebibytes(sample.localBytes()),
          mebibytes(sample.checkpointBytes()),
          Integer.toString(sample.checkpointFiles()),
          mebibytes(sample.uploadedBytes()));
    }
    return table.toString();
  }

  /**
   * The goals: the values that must not grow, as ratios of the last third to the median of the
   * middle third.
   */
  List<Goal> goals() {
    return List.of(
        goal("resident memory", 1.05, SoakSample::residentBytes),
        goal("local disk", 1.25, SoakSample::localBytes),
        goal("bytes of the checkpoint's files", 1.25, SoakSample::checkpointBytes),
        goal("files of the checkpoint", 1.25, SoakSample::checkpointFiles),
        goal("uploaded bytes", 1.25, SoakSample::uploadedBytes),
        goal("p99.9 of a record", 1.5, SoakSample::tailMicros),
        goal("time of a checkpoint", 1.5, SoakSample::checkpointMillis));
  }

  private Goal goal(String name, double most, ToDoubleFunction<SoakSample> of) {
    int third = samples.size() / 3;
    double middle = Spread.of(values(samples.subList(third, samples.size() - third), of)).median();
    List<Double> ratios =
        values(samples.subList(samples.size() - third, samples.size()), of).stream()
            .map(value -> value / middle)
            .toList();
    return Goal.atMost(name + ", last third to middle", "x", most, Spread.of(ratios), "");
  }

  /** Draws memory and disk, and the time of records, over time. */
  void draw(Path directory) throws IOException {
    List<Double> seconds = values(samples, SoakSample::seconds);
    LinePlot bytes = new LinePlot("Memory and disk", "s", "MiB");
    bytes.add("resident", seconds, values(samples, each -> each.residentBytes() / 1048576.0));
    bytes.add("local disk", seconds, values(samples, each -> each.localBytes() / 1048576.0));
    bytes.add("checkpoint", seconds, values(samples, each -> each.checkpointBytes() / 1048576.0));
    bytes.write(directory, "soak-bytes");
    LinePlot micros = new LinePlot("Time of a record", "s", "us");
    micros.add("p50", seconds, values(samples, SoakSample::medianMicros));
    micros.add("p99.9", seconds, values(samples, SoakSample::tailMicros));
    micros.write(directory, "soak-time");
  }

  private static List<Double> values(List<SoakSample> samples, ToDoubleFunction<SoakSample> of) {
    return samples.stream().map(of::applyAsDouble).toList();
  }

  private static String mebibytes(long bytes) {
    return number(bytes / (double) (1 << 20));
  }

  private static String number(double number) {
    return String.format(Locale.ROOT, number < 100 ? "%.1f" : "%.0f", number);
  }
}
