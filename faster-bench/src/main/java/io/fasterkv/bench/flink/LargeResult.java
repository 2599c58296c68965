package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Spread;
import java.util.ArrayList;
import java.util.List;

/**
 * What a row has measured on one backend.
 *
 * @param measured of each checkpoint or restore, round by round
 */
record LargeResult(LargeRow row, Backend backend, List<Double> measured) {

  static LargeResult empty(LargeRow row, Backend backend) {
    return new LargeResult(row, backend, new ArrayList<>());
  }

  Spread spread() {
    return Spread.of(measured);
  }

  /** The ratios to another backend's measurements, one by one. */
  Spread times(LargeResult other) {
    return Spread.ofRatios(measured, other.measured);
  }
}
