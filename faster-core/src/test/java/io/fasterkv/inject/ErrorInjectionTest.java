package io.fasterkv.inject;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.inject.Point.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * Throws an Error from every callback, trigger action, device call, user function, thread start and
 * allocation of the store in turn. Every call ends within a bound, correctly or with the Error as
 * its cause. The store closes and leaves nothing behind. Its checkpoints can be recovered, with a
 * prefix of each session's operations. The points are found in the class files, so new code is
 * covered as it is written.
 *
 * <p>Runs on request, with {@code -Dinject.rounds}. A failure prints the properties of its run;
 * pass them to this test to repeat it.
 */
@EnabledIf("isWanted")
class ErrorInjectionTest {
  /** Against a hang; a call takes milliseconds. */
  private static final long BOUND_MILLIS = 20_000;

  /** For a hang that is expected. */
  private static final long SHORT_BOUND_MILLIS = 10_000;

  private static final int STORMS = 15;
  private static final int ENOUGH_FAULTS = 3;

  private final List<String> faults = new ArrayList<>();

  /** All points in each round. */
  @Test
  void noErrorMakesACallHangOrTearsAPrefix() {
    long seed = Seeds.fresh(1).sum();
    Campaign campaign = new Campaign(seed, BOUND_MILLIS, UnaryOperator.identity());
    assertThat(campaign.explore()).as("without any Error").isEmpty();
    int rounds = Integer.getInteger("inject.rounds", 1);
    if (Replay.isWanted()) {
      campaign.replay(Replay.wanted(), faults::add);
    } else {
      for (int i = 0; i < rounds; i++) {
        round(campaign);
      }
    }
    System.out.println("seed=" + seed + ": " + campaign.counts());
    assertThat(faults).isEmpty();
  }

  static boolean isWanted() {
    return Replay.isWanted() || System.getProperty("inject.rounds") != null;
  }

  private void round(Campaign campaign) {
    for (int point : campaign.visited()) {
      Kind kind = campaign.point(point).kind();
      if (kind != Kind.ENTRY && faults.size() < ENOUGH_FAULTS) {
        campaign.once(point, faults::add);
      }
    }
    for (int i = 0; i < STORMS && faults.size() < ENOUGH_FAULTS; i++) {
      campaign.storm(faults::add);
    }
  }

  /** The harness finds a hang that was planted. */
  @Test
  void aFlusherThatLosesAReportIsFound() {
    SwallowedReport broken = new SwallowedReport();
    Campaign campaign = new Campaign(1, SHORT_BOUND_MILLIS, broken);
    assertThat(campaign.explore()).as("without any Error").isEmpty();
    assertThat(broken.hasChanged()).isTrue();
    campaign.replay(new Replay(SwallowedReport.POINT, 0, 1, 1, AssertionError.class), faults::add);
    assertThat(faults).anyMatch(fault -> fault.contains("does not end"));
  }
}
