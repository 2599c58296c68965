package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Spread;
import java.util.ArrayList;
import java.util.List;

/**
 * The measurements of a row on one backend.
 *
 * @param measured round by round
 */
record SlowResult(SlowPlan plan, SlowRow row, Backend backend, List<Double> measured) {

  static SlowResult empty(SlowPlan plan, SlowRow row, Backend backend) {
    return new SlowResult(plan, row, backend, new ArrayList<>());
  }

  int valueBytes() {
    return plan.state().valueBytes();
  }

  Spread spread() {
    return Spread.of(measured);
  }

  /** The multiple of another backend's measurement, round by round. */
  Spread times(SlowResult other) {
    return Spread.ofRatios(measured, other.measured);
  }
}
