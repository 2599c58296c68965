package io.fasterkv.bench.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Index;
import org.junit.jupiter.api.Test;

class TimelineTest {
  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** A thousand events a second for ten seconds, except from the 4th to the 6th. */
  private static Timeline interrupted() {
    Timeline timeline = new Timeline(0);
    long events = 0;
    for (long now = 0; now <= 10_000; now += 10) {
      timeline.add(new Timeline.Sample(millis(now), events, millis(2 * now)));
      events += now >= 4_000 && now < 6_000 ? 0 : 10;
    }
    return timeline;
  }

  @Test
  void firstEventsCountFromTheSubmission() {
    Timeline timeline = interrupted();
    assertThat(timeline.secondsTo(2_500)).hasValue(2.5);
    assertThat(timeline.cpuSecondsTo(2_500)).hasValue(5.0);
    assertThat(timeline.secondsTo(9_000)).isEmpty();
    assertThat(timeline.cpuSeconds()).isEqualTo(20);
  }

  @Test
  void throughputCountsFromTheWarmUp() {
    assertThat(interrupted().perSecond(1_000, millis(4_000))).isCloseTo(1_000, within(1.0));
    assertThat(interrupted().perSecond(3_000, millis(7_000))).isCloseTo(500, within(1.0));
  }

  @Test
  void recoveryEndsWhereTheThroughputIsNearlyAsBefore() {
    assertThat(interrupted().recoverySeconds(millis(4_000), millis(4_500), 500).orElseThrow())
        .isBetween(1.9, 2.1);
    assertThat(interrupted().recoverySeconds(millis(9_900), millis(9_900), 500)).isEmpty();
  }

  @Test
  void momentsShowTheInterruption() {
    assertThat(interrupted().moments(10))
        .hasSize(10)
        .satisfies(
            moment -> assertThat(moment.eventsPerSecond()).isCloseTo(1_000, within(20.0)),
            Index.atIndex(1))
        .satisfies(
            moment -> assertThat(moment).isEqualTo(new JobResult.Moment(5.5, 0)), Index.atIndex(5));
  }
}
