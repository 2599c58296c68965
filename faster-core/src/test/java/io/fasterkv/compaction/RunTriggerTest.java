package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests when a run is worthwhile, without a store. */
class RunTriggerTest {
  private static final long MEMORY = 1000;

  private final RunTrigger trigger = new RunTrigger(() -> MEMORY);

  private void passed(long scannedBytes, long droppedBytes, long unknownBytes, long leftBytes) {
    RunOutcome outcome = new RunOutcome(scannedBytes, scannedBytes - droppedBytes, 0, leftBytes);
    trigger.runEnded(outcome, unknownBytes, leftBytes);
  }

  @Test
  void aLogThatFitsMemoryIsLeftAlone() {
    assertThat(trigger.isDue(0, 0, false)).isFalse();
    assertThat(trigger.isDue(MEMORY, 0, false)).isFalse();
    assertThat(trigger.isDue(MEMORY + 1, 0, false)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLogWithoutWritesIsLeftAlone(boolean isHeld) {
    for (long dropped : new long[] {0, 4000, 5000}) {
      for (long unknown : new long[] {0, 5000}) {
        passed(5000, dropped, unknown, 5000);
        assertThat(trigger.isDue(5000, 0, isHeld)).isFalse();
      }
    }
  }

  /** Only insertions: copied bytes stay proportional to written bytes. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void copyingAFullyLiveLogIsBounded(boolean isKnown) {
    long copied = 0;
    long log = 0;
    long known = 0;
    for (int written = 0; written < 10_000_000; written += 100) {
      log += 100;
      known += isKnown ? 100 : 0;
      if (trigger.isDue(log, known, true)) {
        copied += log;
        passed(log, 0, log - known, log);
        known = log;
      }
    }
    assertThat(copied).isLessThanOrEqualTo(2 * log + 3 * MEMORY);
  }

  /** A sample may be wrong by a tenth, and its result is used for a long time. */
  @Test
  void aSampleCountsOnlyIfNextToNothingIsDead() {
    passed(8000, 8000, 8000, 2000);
    assertThat(trigger.isWorthIt(8000, 8000, 7499, false)).isTrue();
    assertThat(trigger.isDue(8000, 0, false)).isTrue();
    assertThat(trigger.isWorthIt(8000, 8000, 7500, false)).isFalse();
    assertThat(trigger.isDue(8000, 0, false)).isFalse();
    assertThat(trigger.isDue(11_251, 0, false)).isTrue();
  }

  /** The log was once copied as a whole after each restart if one sixteenth of it was dead. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLogThatWasRecoveredIsDueAsItWas(boolean isHeld) {
    int live = 6000;
    int due = live + live / (isHeld ? 3 : 2);
    assertThat(trigger.isDue(due, live / 2, isHeld)).isTrue();
    assertThat(trigger.isWorthIt(due + 1, due + 1, live, isHeld)).isTrue();
    assertThat(trigger.isWorthIt(due - 100, due - 100, live, isHeld)).isFalse();
    assertThat(trigger.isDue(due, live / 2, isHeld)).isFalse();
    assertThat(trigger.isDue(due + 1, live / 2, isHeld)).isTrue();
    assertThat(trigger.isWorthIt(due + 1, due + 1, live, isHeld)).isTrue();
  }

  /** A data set that outgrows its memory: little is on disk, and all of it is live. */
  @ParameterizedTest
  @ValueSource(longs = {0, 50_000})
  void aLogIsLookedAtAgainWhenHalfAsMuchAgainIsOnDisk(long live) {
    assertThat(trigger.isWorthIt(50_000, 1000, 1000, false)).isFalse();
    assertThat(trigger.isDue(50_500, live, false)).isFalse();
    assertThat(trigger.isDue(Math.max(50_500, live + live / 2) + 1, live, false)).isTrue();
  }

  /** Insertions, and then overwrites: the last run was expected to find nothing to drop. */
  @Test
  void aLogThatWasKnownToBeLiveIsNotLeftUntilItHasDoubled() {
    long live = 50_000;
    passed(live, 0, live / 10, live);
    assertThat(trigger.isDue(live + live / 2 + 1, live, false)).isTrue();
    passed(live, 0, live, live);
    assertThat(trigger.isDue(2 * live, live, false)).isFalse();
  }

  /**
   * Cold records are at the log's begin address, and records written in order are in memory. A run
   * that finds the small part on disk to be all live says nothing about the rest.
   */
  @Test
  void aLogMostOfWhichIsInMemoryIsDueSoon() {
    long live = 20_000;
    for (long unknown : new long[] {0, 80_000}) {
      passed(10_000, 0, unknown, 100_000);
      assertThat(trigger.isDue(105_000, live, false)).isFalse();
      assertThat(trigger.isDue(110_001, live, false)).isTrue();
    }
    passed(10_000, 10_000, 80_000, 100_000);
    assertThat(trigger.isDue(100_000, live, false)).isFalse();
    assertThat(trigger.isDue(100_001, live, false)).isTrue();
  }

  /** Records that count as live may have been deleted. */
  @Test
  void aLogThatHasDoubledIsDueWhateverItsLiveBytes() {
    passed(5000, 5000, 5000, 5000);
    assertThat(trigger.isDue(10_000, 10_000, false)).isFalse();
    assertThat(trigger.isDue(10_001, 10_001, false)).isTrue();
  }

  @Test
  void aLogWhoseHeadHasExpiredIsDueByItsRest() {
    passed(50_000, 25_000, 25_000, 50_000);
    trigger.truncated(10_000);
    assertThat(trigger.isDue(20_001, 10_000, false)).isTrue();
  }

  /**
   * Only overwrites: the log stays within twice its live bytes, and two bytes are copied for each
   * byte written.
   */
  @Test
  void overwritesKeepTheLogWithinTwiceItsLiveBytes() {
    assertThat(copiedForEachByteWritten(false)).isLessThanOrEqualTo(2);
  }

  /**
   * The log is shorter when a checkpoint pins it, and three bytes are copied for each byte written.
   */
  @Test
  void overwritesOfALogThatIsHeldAreCompactedEarlier() {
    assertThat(copiedForEachByteWritten(true)).isBetween(2.0, 3.0);
  }

  private double copiedForEachByteWritten(boolean isHeld) {
    long live = 50_000;
    long most = 0;
    long log = live;
    long copied = 0;
    long written = 0;
    passed(log, log, log, log);
    for (; written < 10_000_000; written += 100) {
      log += 100;
      if (trigger.isDue(log, live, isHeld)) {
        copied += live;
        passed(log, log - live, log - live, live);
        log = live;
      }
      most = Math.max(most, log);
    }
    assertThat(most).isLessThanOrEqualTo(isHeld ? live * 4 / 3 : 2 * live);
    return (double) copied / written;
  }
}
