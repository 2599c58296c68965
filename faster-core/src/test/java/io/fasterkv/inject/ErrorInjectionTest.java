package io.fasterkv.inject;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.inject.Point.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Throws an Error from every callback, trigger action, device call, user function, thread start and
 * allocation of the store in turn. Every call ends within a bound, correctly or with the Error as
 * its cause. The store closes and leaves nothing behind. Its checkpoints can be recovered, with a
 * prefix of each session's operations. The points are found in the class files, so new code is
 * covered as it is written.
 *
 * <p>{@code mvn verify} tests a sample of the points, the same in each run; {@code
 * -Dinject.rounds=3} tests every point three times. A failure prints the properties of its run;
 * pass them to this test to repeat it.
 */
@Tag("seeds")
class ErrorInjectionTest {
  /** A call takes milliseconds; a call that takes longer than this counts as a hang. */
  private static final long BOUND_MILLIS = 60_000;

  /** For a hang that is expected; a slow call that is mistaken for it does no harm. */
  private static final long SHORT_BOUND_MILLIS = 2_000;

  private static final long SAMPLE_SEED = 31;
  private static final int SAMPLE_POINTS = 40;
  private static final int SAMPLE_STORMS = 3;
  private static final int STORMS = 40;

  /** The point before the call of a trigger action. */
  private static final String ACTION = "CALLBACK:DrainList.runNext#\\d+ before Runnable.run";

  private static final int SAMPLE_ACTIONS = 24;

  /** The points at the start and the end of a resize, and in the waits in between. */
  private static final String RESIZE =
      ".*:(IndexResizer|HashIndex\\.\\w+Resize|IndexTable\\.<init>|OffHeapArena\\.close).*";

  /**
   * The points where a session with stages processes arrivals and completes stages, except two
   * entries of methods that have the stack they need: one is the first method of a task, and the
   * other is called only after the stack was checked.
   */
  private static final String STAGES =
      "(?!ENTRY:AsyncCore\\.(processArrivals|completeStages)#)"
          + ".*:(AsyncCore\\.(arrived|complete|drive|process|setTimer).*|Promise\\.run.*"
          + "|SessionCore\\.reported.*)";

  /**
   * A setting whose values are many times as large as the log's memory: whatever the threads'
   * order, sessions wait for every write, however late the first one is, and read from disk.
   */
  private static final int SETTING_OF_WAITS = 1;

  private static final int FIRST_VISITS = 3;
  private static final int ENOUGH_FAULTS = 3;

  private final List<String> faults = new ArrayList<>();

  /** Rounds take minutes each; a hang is detected by the time bound. */
  @Tag("slow")
  @Test
  @Timeout(value = 12, unit = TimeUnit.HOURS)
  void noErrorMakesACallHangOrTearsAPrefix() {
    Integer rounds = Integer.getInteger("inject.rounds");
    long seed = rounds == null ? Long.getLong("faster.seed", SAMPLE_SEED) : Seeds.fresh(1).sum();
    Campaign campaign = new Campaign(seed, BOUND_MILLIS, UnaryOperator.identity());
    assertThat(campaign.explore()).as("without any Error").isEmpty();
    if (Replay.isWanted()) {
      campaign.replay(Replay.wanted(), faults::add);
    } else if (rounds == null) {
      round(campaign, SAMPLE_POINTS, SAMPLE_STORMS);
    } else {
      for (int i = 0; i < rounds; i++) {
        round(campaign, Integer.MAX_VALUE, STORMS);
      }
    }
    System.out.println("seed=" + seed + ": " + campaign.counts());
    assertThat(faults).isEmpty();
  }

  private void round(Campaign campaign, int most, int storms) {
    int points = 0;
    for (int point : campaign.visited()) {
      boolean isWanted = campaign.point(point).kind() != Kind.ENTRY && points < most;
      if (isWanted && faults.size() < ENOUGH_FAULTS) {
        points++;
        campaign.once(point, faults::add);
      }
    }
    for (int i = 0; i < storms && faults.size() < ENOUGH_FAULTS; i++) {
      campaign.storm(faults::add);
    }
  }

  /** An action that never began once caused an endless wait. */
  @Test
  @Tag("long")
  void aWaitEndsWhoseActionNeverBegins() {
    Campaign campaign = new Campaign(SAMPLE_SEED, BOUND_MILLIS, UnaryOperator.identity());
    assertThat(campaign.explore(0)).as("without any Error").isEmpty();
    assertThat(campaign.each(ACTION, 0, SAMPLE_ACTIONS, faults::add)).isPositive();
    assertThat(faults).isEmpty();
  }

  /** A resize that failed in its last wait once kept the memory of the old table. */
  @Test
  @Tag("long")
  void aResizeThatFailsKeepsTheMemoryOfOneTable() {
    Campaign campaign = new Campaign(SAMPLE_SEED, BOUND_MILLIS, UnaryOperator.identity());
    assertThat(campaign.explore(0)).as("without any Error").isEmpty();
    assertThat(campaign.each(RESIZE, 0, FIRST_VISITS, faults::add)).isPositive();
    assertThat(faults).isEmpty();
  }

  /** Arrivals that were counted but not processed once left stages incomplete. */
  @Test
  void noErrorLeavesAStageIncomplete() {
    Campaign campaign = new Campaign(SAMPLE_SEED, BOUND_MILLIS, UnaryOperator.identity());
    assertThat(campaign.explore()).as("without any Error").isEmpty();
    assertThat(campaign.each(STAGES, SETTING_OF_WAITS, FIRST_VISITS, faults::add)).isPositive();
    assertThat(faults).isEmpty();
  }

  /** The harness detects a hang that was planted. */
  @Tag("slow")
  @Test
  void aFlusherThatLosesAReportIsFound() {
    SwallowedReport broken = new SwallowedReport();
    Campaign campaign = new Campaign(SAMPLE_SEED, SHORT_BOUND_MILLIS, broken);
    assertThat(campaign.explore(0)).as("without any Error").isEmpty();
    assertThat(campaign.explore(SETTING_OF_WAITS)).as("without any Error").isEmpty();
    assertThat(broken.hasChanged()).isTrue();
    campaign.replay(
        new Replay(SwallowedReport.POINT, SETTING_OF_WAITS, 1, 1, AssertionError.class),
        faults::add);
    assertThat(faults).anyMatch(fault -> fault.contains("does not end"));
  }
}
