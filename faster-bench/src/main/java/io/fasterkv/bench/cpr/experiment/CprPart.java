package io.fasterkv.bench.cpr.experiment;

import io.fasterkv.bench.report.Goal;
import java.io.IOException;
import java.util.List;

/** A part that can be measured separately. */
public interface CprPart {
  /** Number of steps of the progress display. */
  int steps();

  /** Measures, writes the figures, and returns the rows, if any. */
  List<Goal> run(CprOutput output) throws IOException;
}
