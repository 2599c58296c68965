package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.statistics.CompactionStats;
import org.junit.jupiter.api.Test;

/** Tests the outcome of a run that has read a part of a log. */
class RunOutcomeTest {
  private static CompactionStats stats(long scannedBytes, long movedBytes, long expiredBytes) {
    return new CompactionStats(1, scannedBytes, movedBytes, movedBytes / 10, expiredBytes);
  }

  @Test
  void concurrentWritesDoNotCountAsLeft() {
    RunOutcome outcome =
        RunOutcome.of(stats(500, 50, 5), stats(1500, 350, 105), 300 + 7000, 2000 + 300 + 7000);
    assertThat(outcome).isEqualTo(new RunOutcome(1000, 300, 100, 2300));
  }

  @Test
  void theUnreadPartIsAssumedToBeLikeTheReadPart() {
    assertThat(new RunOutcome(1000, 300, 0, 300).liveBytes()).isEqualTo(300);
    assertThat(new RunOutcome(1000, 300, 0, 800).liveBytes()).isEqualTo(450);
    assertThat(new RunOutcome(1000, 300, 0, 9000).liveBytes()).isEqualTo(600);
    assertThat(new RunOutcome(1000, 0, 0, 9000).liveBytes()).isZero();
  }

  @Test
  void aRunThatHasReadNothingKnowsNothing() {
    assertThat(new RunOutcome(0, 0, 0, 9000).liveBytes()).isZero();
  }
}
