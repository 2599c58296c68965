package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.log.TailLimit;
import io.fasterkv.operation.version.SessionCounters.Growth;
import org.junit.jupiter.api.Test;

/** Tests the limit on a log's length, without a log. */
class WriteThrottleTest {
  private static final long MEMORY = 1000;
  private static final long RECORD = 10;

  private final TailLimit tail = new TailLimit();
  private long made;
  private long lost;
  private long ended;
  private long log;
  private long live;

  private final WriteThrottle throttle =
      new WriteThrottle(tail, this::growth, () -> MEMORY, true, 0, live -> 2 * live);

  private Growth growth() {
    return new Growth(made, lost, ended, made == 0 ? 0 : RECORD);
  }

  private void create() {
    made += RECORD;
    log += RECORD;
    live += RECORD;
  }

  private void overwrite() {
    made += RECORD;
    ended++;
    log += RECORD;
  }

  private void delete() {
    ended++;
    log += RECORD;
    live -= RECORD;
  }

  /** An ordinary run: live records remain, and so do records written meanwhile. */
  private void pass() {
    throttle.begins();
    log = live;
    throttle.runEnded(live, live, log);
  }

  private long bound() {
    return 2 * live + 4 * MEMORY;
  }

  @Test
  void newKeysAreNotDelayedWhetherRunsEndOrNot() {
    for (int key = 0; key < 100_000; key++) {
      create();
      assertThat(tail.holds(log)).as("log of " + log).isFalse();
    }
    throttle.begins();
    throttle.found(live / 16);
    for (int key = 0; key < 100_000; key++) {
      create();
      assertThat(tail.holds(log)).as("log of " + log).isFalse();
    }
  }

  @Test
  void overwritesAreThrottledAtTwiceTheLiveBytes() {
    for (int key = 0; key < 1000; key++) {
      create();
    }
    while (!tail.holds(log)) {
      overwrite();
    }
    assertThat(log).isBetween(2 * live, bound());
    pass();
    assertThat(tail.holds(log)).isFalse();
    while (!tail.holds(log)) {
      overwrite();
    }
    assertThat(log).isBetween(2 * live, bound());
  }

  @Test
  void temporaryKeysDoNotCount() {
    for (int key = 0; key < 1000; key++) {
      create();
    }
    pass();
    while (!tail.holds(log)) {
      create();
      delete();
    }
    assertThat(log).isBetween(2 * live, bound() + 2 * RECORD);
  }

  /** The bytes that a run has found count during the run, and include those known before it. */
  @Test
  void nothingCountsTwice() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    throttle.begins();
    for (int key = 0; key < 1000; key++) {
      create();
    }
    throttle.runEnded(live - 1000 * RECORD, live - 1000 * RECORD, log);
    while (!tail.holds(log)) {
      overwrite();
    }
    assertThat(log).isLessThanOrEqualTo(bound());
  }

  /**
   * A run does not find records that writers replace before it reaches them, but they were live.
   */
  @Test
  void recordsReplacedDuringARunCount() {
    for (int key = 0; key < 1000; key++) {
      create();
    }
    pass();
    throttle.begins();
    for (int key = 0; key < 900; key++) {
      overwrite();
    }
    throttle.runEnded(100 * RECORD, 100 * RECORD, log);
    assertThat(tail.holds(2 * live)).isFalse();
    assertThat(tail.holds(bound())).isTrue();
    throttle.begins();
    throttle.runEnded(100 * RECORD, 100 * RECORD, log);
    assertThat(tail.holds(2 * live)).as("nothing was replaced, so this little is live").isTrue();
  }

  /**
   * If the sizes of the replaced records were seen, as much is known as before, whatever the size
   * of the largest record.
   */
  @Test
  void replacedRecordsOfKnownSizeKeepTheLiveBytes() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    pass();
    for (int pass = 0; pass < 10; pass++) {
      throttle.begins();
      made += live;
      lost += live;
      throttle.runEnded(live / 10, live / 10, log);
      assertThat(throttle.live()).as("pass " + pass).isEqualTo(live);
    }
  }

  /** Runs that cover only the head do not count the bytes written since the last full run. */
  @Test
  void writtenAndExpiredBytesDoNotAddUp() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    pass();
    for (int life = 0; life < 100; life++) {
      made += live;
      assertThat(throttle.live()).as("life " + life).isEqualTo(2 * live);
      throttle.expired(live);
      assertThat(throttle.live()).as("life " + life).isEqualTo(live);
    }
  }

  @Test
  void deletedRecordsOfKnownSizeDoNotCount() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    pass();
    lost += live - live / 10;
    assertThat(throttle.live()).isEqualTo(live / 10);
    ended += 10_000;
    assertThat(throttle.live()).as("may be the records that ended unseen").isEqualTo(live / 10);
  }

  /**
   * An estimate that is too high is corrected in the middle of a run, and again at the run's end.
   */
  @Test
  void aSampleLowersTheLiveBytes() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    throttle.begins();
    made += live;
    lost += live;
    throttle.isAtMost(live / 10);
    assertThat(throttle.live()).isEqualTo(live / 10);
    throttle.runEnded(live / 20, live / 20, log);
    assertThat(throttle.live()).isEqualTo(live / 10);
    throttle.isAtMost(live);
    assertThat(throttle.live()).as("a sample is only an upper bound").isEqualTo(live / 10);
  }

  /**
   * A sample has already excluded the expired records, and so does a run's later report of them.
   */
  @Test
  void bytesDroppedByARunAreNotSubtractedTwice() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    throttle.begins();
    throttle.expired(live * 6 / 10);
    assertThat(throttle.live()).isEqualTo(live * 4 / 10);
    throttle.isAtMost(live / 2);
    assertThat(throttle.live()).isEqualTo(live * 4 / 10);
    throttle.runEnded(live * 3 / 10, live * 4 / 10, log);
    assertThat(throttle.live()).isEqualTo(live * 4 / 10);
  }

  /** No run has seen the records that are not on disk yet; they are as live as before. */
  @Test
  void liveBytesThatARunHasNotSeenStayKnown() {
    for (int key = 0; key < 1000; key++) {
      create();
    }
    for (int key = 0; key < 1000; key++) {
      made += RECORD;
      lost += RECORD;
      log += RECORD;
    }
    for (long seen : new long[] {0, 100, 500}) {
      throttle.begins();
      throttle.runEnded(seen * RECORD, log, log);
      assertThat(throttle.live()).isEqualTo(live);
    }
  }

  /** Each run drops a tenth of the records, which have expired and which writers write again. */
  @Test
  void expiredBytesDroppedByRunsDoNotAddUp() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    pass();
    for (int pass = 0; pass < 100; pass++) {
      throttle.begins();
      made += live + live / 10;
      lost += live;
      throttle.expired(live / 10);
      throttle.runEnded(live / 10, live / 10, log);
      assertThat(throttle.live()).as("pass " + pass).isLessThanOrEqualTo(live + live / 10);
    }
  }

  @Test
  void expiredBytesDoNotCount() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    log = 0;
    live = 0;
    throttle.truncated(log);
    while (!tail.holds(log)) {
      overwrite();
    }
    assertThat(log).isLessThanOrEqualTo(bound() + RECORD);
  }

  @Test
  void writersContinueWhenTwoRunsDoNotHelp() {
    for (int key = 0; key < 1000; key++) {
      create();
    }
    while (!tail.holds(log)) {
      overwrite();
    }
    for (int pass = 0; pass < 2; pass++) {
      assertThat(tail.holds(log)).as("after " + pass).isTrue();
      throttle.begins();
      throttle.runEnded(live, live, log);
    }
    assertThat(tail.holds(log)).isFalse();
  }

  @Test
  void aStoreWhoseOwnerSetsThePaceIsNotThrottled() {
    TailLimit free = new TailLimit();
    new WriteThrottle(free, this::growth, () -> MEMORY, false, 0, live -> 2 * live)
        .runEnded(0, 0, Long.MAX_VALUE / 2);
    assertThat(free.holds(Long.MAX_VALUE - 1)).isFalse();
  }
}
