package io.fasterkv.bench.cpr.experiment;

import io.fasterkv.bench.process.WorkDirectory;
import io.fasterkv.bench.report.Progress;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where parts keep their stores, show their progress, and write their figures.
 *
 * @param out the directory of the figures, or null for none
 */
public record CprOutput(WorkDirectory work, @Nullable Path out, Progress progress) {

  /** Runs a measurement in a directory of its own, which is then removed. */
  public <T> T step(String name, Measurement<T> measurement) throws IOException {
    progress.begin(name);
    Path directory = work.directory("store");
    try {
      return measurement.measure(directory);
    } finally {
      work.delete(directory);
      progress.step();
    }
  }

  /** Writes a figure, if figures are wanted. */
  public void write(Figure figure) throws IOException {
    if (out != null) {
      figure.write(out);
    }
  }

  /** A figure or more. */
  @FunctionalInterface
  public interface Figure {
    void write(Path directory) throws IOException;
  }

  /** One run. */
  @FunctionalInterface
  public interface Measurement<T> {
    T measure(Path directory) throws IOException;
  }
}
