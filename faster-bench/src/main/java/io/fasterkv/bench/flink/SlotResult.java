package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Spread;
import java.util.List;

/**
 * The measurements of a row on one backend.
 *
 * @param turns round by round
 */
record SlotResult(SlotPlan plan, SlotRow row, Backend backend, List<SlotState.Turn> turns) {
  private List<Double> rates() {
    return turns.stream().map(SlotState.Turn::opsPerMilli).toList();
  }

  private List<Double> hitRates() {
    return turns.stream().map(SlotState.Turn::hitRate).toList();
  }

  Spread spread() {
    return Spread.of(rates());
  }

  Spread hits() {
    return Spread.of(hitRates());
  }

  /** The multiple of another measurement, round by round. */
  Spread times(SlotResult other) {
    return Spread.ofRatios(rates(), other.rates());
  }

  /** The multiple of another measurement's hit rate, round by round. */
  Spread timesHits(SlotResult other) {
    return Spread.ofRatios(hitRates(), other.hitRates());
  }
}
