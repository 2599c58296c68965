package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/** Tests how many bytes a second a run may read, with a simulated clock. */
class PaceTest {
  private static final long PER_SECOND = 1_000_000;
  private static final long SECOND_NANOS = 1_000_000_000;

  private long now = 77;
  private int parks;
  private boolean isClosed;

  private Pace pace(long bytesPerSecond, LongConsumer park) {
    return new Pace(bytesPerSecond, () -> isClosed, () -> now, park);
  }

  private void sleep(long nanos) {
    parks++;
    now += nanos;
  }

  @Test
  void atNoTimeMoreThanTheRateWasAllowed() {
    Pace pace = pace(PER_SECOND, this::sleep);
    SplittableRandom random = new SplittableRandom(1);
    long start = now;
    long bytes = 0;
    for (int i = 0; i < 10_000; i++) {
      long more = random.nextInt(1, 10_000);
      assertThat(pace.allows(more)).isTrue();
      bytes += more;
      long due = start + (long) ((double) bytes / PER_SECOND * SECOND_NANOS);
      assertThat(now).isGreaterThanOrEqualTo(due);
      // Reading takes time too, and the pace does not wait for that time again.
      now += random.nextInt(8_000_000);
      if (now > due + SECOND_NANOS) {
        return;
      }
    }
    assertThat(parks).isPositive();
  }

  @Test
  void anEarlyWakeUpIsContinued() {
    Pace pace = pace(PER_SECOND, nanos -> sleep(Math.min(nanos, 1000)));
    long start = now;
    assertThat(pace.allows(PER_SECOND / 100)).isTrue();
    assertThat(now - start).isGreaterThanOrEqualTo(SECOND_NANOS / 100);
  }

  @Test
  void closingEndsTheWait() {
    Pace pace =
        pace(
            1,
            nanos -> {
              sleep(nanos);
              isClosed = parks == 5;
            });
    assertThat(pace.allows(1 << 30)).isFalse();
    assertThat(parks).isEqualTo(5);
  }

  @Test
  void withoutARateNothingIsWaitedFor() {
    assertThat(pace(0, this::sleep).allows(Long.MAX_VALUE)).isTrue();
    assertThat(new Pace(0, () -> false).allows(Long.MAX_VALUE)).isTrue();
    assertThat(parks).isZero();
  }
}
