package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

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
    return Spread.of(
        IntStream.range(0, measured.size())
            .mapToObj(i -> measured.get(i) / other.measured.get(i))
            .toList());
  }
}
