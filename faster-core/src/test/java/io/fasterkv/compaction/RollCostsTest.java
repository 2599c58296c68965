package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What the two ways to find live records cost, compared. */
class RollCostsTest {
  private static final double SWEPT_BYTES = 40e6;
  private static final long SWEEP_NANOS = 20_000_000;

  @Test
  void aPauseThatIsShortBesideTheSweepIsNotCompared() {
    RollCosts costs = measured();
    assertThat(costs.isEnough(SWEEP_NANOS / 40.0, SWEPT_BYTES)).isFalse();
    assertThat(costs.isEnough(SWEEP_NANOS / 2.0, SWEPT_BYTES)).isTrue();
  }

  @Test
  void theCheaperWayIsChosen() {
    RollCosts costs = measured();
    assertThat(costs.isSequenceCheaper(SWEPT_BYTES, SWEEP_NANOS / 2.0)).isFalse();
    assertThat(costs.isSequenceCheaper(SWEPT_BYTES, SWEEP_NANOS * 2.0)).isTrue();
  }

  @Test
  void chainsThatAreWeighedAreComparedTheSooner() {
    RollCosts costs = measured();
    costs.weighChains(1000);
    assertThat(costs.isEnough(SWEEP_NANOS / 1000.0, SWEPT_BYTES)).isTrue();
    assertThat(costs.isSequenceCheaper(SWEPT_BYTES, SWEEP_NANOS / 500.0)).isTrue();
  }

  /** Costs that have seen so many sweeps that the first guess is forgotten. */
  private static RollCosts measured() {
    RollCosts costs = new RollCosts();
    for (int sweep = 0; sweep < 100; sweep++) {
      costs.swept((long) SWEPT_BYTES, SWEEP_NANOS);
    }
    return costs;
  }
}
