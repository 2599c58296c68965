package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.log.TailBrake;
import io.fasterkv.operation.ChainSteps.Growth;
import org.junit.jupiter.api.Test;

/** How long a log may become, without a log. */
class WriteBrakeTest {
  private static final long MEMORY = 1000;
  private static final long RECORD = 10;

  private final TailBrake tail = new TailBrake();
  private long made;
  private long lost;
  private long ended;
  private long log;
  private long live;

  private final WriteBrake brake =
      new WriteBrake(tail, this::growth, MEMORY, true, 0, live -> 2 * live);

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

  /** A pass as it should be: what is live stays, and what was written meanwhile. */
  private void pass() {
    brake.begins();
    log = live;
    brake.passed(live, live, log);
  }

  private long bound() {
    return 2 * live + 4 * MEMORY;
  }

  @Test
  void newKeysAreNotHeldWhetherPassesEndOrNot() {
    for (int key = 0; key < 100_000; key++) {
      create();
      assertThat(tail.holds(log)).as("log of " + log).isFalse();
    }
    brake.begins();
    brake.found(live / 16);
    for (int key = 0; key < 100_000; key++) {
      create();
      assertThat(tail.holds(log)).as("log of " + log).isFalse();
    }
  }

  @Test
  void overwritesAreHeldAtTwiceWhatIsLive() {
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
  void keysThatComeAndGoDoNotCount() {
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

  /** What a pass finds counts while it goes on, and what came before it is in what it finds. */
  @Test
  void nothingCountsTwice() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    brake.begins();
    for (int key = 0; key < 1000; key++) {
      create();
    }
    brake.passed(live - 1000 * RECORD, live - 1000 * RECORD, log);
    while (!tail.holds(log)) {
      overwrite();
    }
    assertThat(log).isLessThanOrEqualTo(bound());
  }

  /** What writers replace before a pass comes by is not found by it, and was live all the same. */
  @Test
  void whatIsReplacedDuringAPassCounts() {
    for (int key = 0; key < 1000; key++) {
      create();
    }
    pass();
    brake.begins();
    for (int key = 0; key < 900; key++) {
      overwrite();
    }
    brake.passed(100 * RECORD, 100 * RECORD, log);
    assertThat(tail.holds(2 * live)).isFalse();
    assertThat(tail.holds(bound())).isTrue();
    brake.begins();
    brake.passed(100 * RECORD, 100 * RECORD, log);
    assertThat(tail.holds(2 * live)).as("nothing was replaced: so little is live").isTrue();
  }

  /** Who has seen what was replaced knows as much as before, whatever the largest record is. */
  @Test
  void whatIsReplacedBySightLeavesWhatIsKnown() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    pass();
    for (int pass = 0; pass < 10; pass++) {
      brake.begins();
      made += live;
      lost += live;
      brake.passed(live / 10, live / 10, log);
      assertThat(brake.live()).as("pass " + pass).isEqualTo(live);
    }
  }

  /** Passes over the head alone let go what was made since the last that was whole. */
  @Test
  void whatComesAndExpiresDoesNotAddUp() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    pass();
    for (int life = 0; life < 100; life++) {
      made += live;
      assertThat(brake.live()).as("life " + life).isEqualTo(2 * live);
      brake.expired(live);
      assertThat(brake.live()).as("life " + life).isEqualTo(live);
    }
  }

  @Test
  void whatIsDeletedBySightDoesNotCountAnyMore() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    pass();
    lost += live - live / 10;
    assertThat(brake.live()).isEqualTo(live / 10);
    ended += 10_000;
    assertThat(brake.live()).as("what ended unseen may be that").isEqualTo(live / 10);
  }

  /** A number that is too high is put right in the middle of a pass, and by its end again. */
  @Test
  void aSampleLowersWhatIsLive() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    brake.begins();
    made += live;
    lost += live;
    brake.isAtMost(live / 10);
    assertThat(brake.live()).isEqualTo(live / 10);
    brake.passed(live / 20, live / 20, log);
    assertThat(brake.live()).isEqualTo(live / 10);
    brake.isAtMost(live);
    assertThat(brake.live()).as("no sample raises it that says at most").isEqualTo(live / 10);
  }

  /** A sample has left out what had expired, and so does what a pass tells of it before. */
  @Test
  void whatAPassHasDroppedIsNotTakenOffTwice() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    brake.begins();
    brake.expired(live * 6 / 10);
    assertThat(brake.live()).isEqualTo(live * 4 / 10);
    brake.isAtMost(live / 2);
    assertThat(brake.live()).isEqualTo(live * 4 / 10);
    brake.passed(live * 3 / 10, live * 4 / 10, log);
    assertThat(brake.live()).isEqualTo(live * 4 / 10);
  }

  /** What is not on disk yet no pass has seen; it is as live as it was known to be. */
  @Test
  void whatAPassHasNotSeenStaysAsItIsKnown() {
    for (int key = 0; key < 1000; key++) {
      create();
    }
    for (int key = 0; key < 1000; key++) {
      made += RECORD;
      lost += RECORD;
      log += RECORD;
    }
    for (long seen : new long[] {0, 100, 500}) {
      brake.begins();
      brake.passed(seen * RECORD, log, log);
      assertThat(brake.live()).isEqualTo(live);
    }
  }

  /** Each pass leaves a tenth behind that has expired, which writers make anew. */
  @Test
  void whatPassesLeaveBehindDoesNotAddUp() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    pass();
    for (int pass = 0; pass < 100; pass++) {
      brake.begins();
      made += live + live / 10;
      lost += live;
      brake.expired(live / 10);
      brake.passed(live / 10, live / 10, log);
      assertThat(brake.live()).as("pass " + pass).isLessThanOrEqualTo(live + live / 10);
    }
  }

  @Test
  void whatHasExpiredDoesNotCount() {
    for (int key = 0; key < 10_000; key++) {
      create();
    }
    log = 0;
    live = 0;
    brake.truncated(log);
    while (!tail.holds(log)) {
      overwrite();
    }
    assertThat(log).isLessThanOrEqualTo(bound() + RECORD);
  }

  @Test
  void writersGoOnWhenTwoPassesDoNotHelp() {
    for (int key = 0; key < 1000; key++) {
      create();
    }
    while (!tail.holds(log)) {
      overwrite();
    }
    for (int pass = 0; pass < 2; pass++) {
      assertThat(tail.holds(log)).as("after " + pass).isTrue();
      brake.begins();
      brake.passed(live, live, log);
    }
    assertThat(tail.holds(log)).isFalse();
  }

  @Test
  void aStoreWhoseOwnerSetsThePaceHasNoBrake() {
    TailBrake free = new TailBrake();
    new WriteBrake(free, this::growth, MEMORY, false, 0, live -> 2 * live)
        .passed(0, 0, Long.MAX_VALUE / 2);
    assertThat(free.holds(Long.MAX_VALUE - 1)).isFalse();
  }
}
