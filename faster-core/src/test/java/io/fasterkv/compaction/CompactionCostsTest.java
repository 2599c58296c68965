package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests the comparison of the costs of the two ways to find live records. */
class CompactionCostsTest {
  private static final double SWEPT_BYTES = 40e6;
  private static final long SWEEP_NANOS = 20_000_000;

  @Test
  void costsAreNotComparedAfterAShortSample() {
    CompactionCosts costs = measured();
    assertThat(costs.isEnough(SWEEP_NANOS / 40.0, SWEPT_BYTES)).isFalse();
    assertThat(costs.isEnough(SWEEP_NANOS / 2.0, SWEPT_BYTES)).isTrue();
  }

  @Test
  void theCheaperWayIsChosen() {
    CompactionCosts costs = measured();
    assertThat(costs.isSequenceCheaper(SWEPT_BYTES, SWEEP_NANOS / 2.0)).isFalse();
    assertThat(costs.isSequenceCheaper(SWEPT_BYTES, SWEEP_NANOS * 2.0)).isTrue();
  }

  @Test
  void chainsThatAreWeighedAreComparedTheSooner() {
    CompactionCosts costs = measured();
    costs.weighChains(1000);
    assertThat(costs.isEnough(SWEEP_NANOS / 1000.0, SWEPT_BYTES)).isTrue();
    assertThat(costs.isSequenceCheaper(SWEPT_BYTES, SWEEP_NANOS / 500.0)).isTrue();
  }

  /** Costs measured in so many sweeps that the initial estimate has no effect. */
  private static CompactionCosts measured() {
    CompactionCosts costs = new CompactionCosts();
    for (int sweep = 0; sweep < 100; sweep++) {
      costs.swept((long) SWEPT_BYTES, SWEEP_NANOS);
    }
    return costs;
  }
}
