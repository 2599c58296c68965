package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When a pass is worth it, without a store. */
class PassTriggerTest {
  private static final long MEMORY = 1000;

  private final PassTrigger trigger = new PassTrigger(MEMORY);

  @Test
  void aLogThatFitsMemoryIsLeftAlone() {
    assertThat(trigger.isDue(0)).isFalse();
    assertThat(trigger.isDue(MEMORY)).isFalse();
    assertThat(trigger.isDue(MEMORY + 1)).isTrue();
  }

  @Test
  void aLogThatNobodyWritesToIsLeftAlone() {
    for (long dropped : new long[] {0, 4000, 5000}) {
      trigger.passed(5000, dropped, 5000);
      assertThat(trigger.isDue(5000)).isFalse();
    }
  }

  /** Nothing but insertions: what is copied stays in proportion to what is written. */
  @Test
  void copyingAFullyLiveLogIsBounded() {
    long copied = 0;
    long log = 0;
    for (int written = 0; written < 10_000_000; written += 100) {
      log += 100;
      if (trigger.isDue(log)) {
        copied += log;
        trigger.passed(log, 0, log);
      }
    }
    assertThat(copied).isLessThanOrEqualTo(2 * log + 3 * MEMORY);
  }

  /** Nothing but overwrites: the log stays within twice its live bytes, for two bytes a byte. */
  @Test
  void overwritesKeepTheLogWithinTwiceItsLiveBytes() {
    long live = 50_000;
    long log = live;
    long copied = 0;
    long written = 0;
    for (; written < 10_000_000; written += 100) {
      log += 100;
      if (trigger.isDue(log)) {
        copied += live;
        trigger.passed(log, log - live, live);
        log = live;
      }
      assertThat(log).isLessThanOrEqualTo(2 * live);
    }
    assertThat(copied).isLessThanOrEqualTo(2 * written + 2 * live);
  }
}
