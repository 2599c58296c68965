package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Spread;
import java.util.List;

/**
 * The measurements of a row on one backend.
 *
 * @param opsPerMilli a read and an update count as one, round by round
 */
record SlotResult(SlotPlan plan, SlotRow row, Backend backend, List<Double> opsPerMilli) {
  Spread spread() {
    return Spread.of(opsPerMilli);
  }

  /** The multiple of another measurement, round by round. */
  Spread times(SlotResult other) {
    return Spread.ofRatios(opsPerMilli, other.opsPerMilli);
  }
}
