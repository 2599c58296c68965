package io.fasterkv.bench.cpr;

import io.fasterkv.bench.rows.Goal;
import java.io.IOException;
import java.util.List;

/** What can be measured by itself. */
interface CprPart {
  /** How many steps of the progress display it takes. */
  int steps();

  /** Measures; writes its figures; returns its rows, or none. */
  List<Goal> run(CprOutput output) throws IOException;
}
