package io.fasterkv.operation.version;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.memory.Words;
import io.fasterkv.operation.version.SessionCounters.Growth;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests counts of one thread that another thread adds up. */
class SessionCountersTest {
  private static final int BYTES = 24;
  private static final int LOOKS = 1_000_000;

  /**
   * Each value replaces another of the same length, so nothing grows. A thread that read the two
   * counts at different moments would find hundreds of new records. Before the code is compiled, a
   * read may be so slow that the writer never pauses during it, and then it may miss some records.
   */
  @ParameterizedTest
  @ValueSource(longs = {BYTES, SessionCounters.UNKNOWN_BYTES})
  void replacedRecordsAreNoGrowth(long oldBytes) throws Exception {
    SessionCounters steps = new SessionCounters();
    SessionCounters.Stripe stripe = steps.open();
    AtomicBoolean isEnough = new AtomicBoolean();
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              while (!isEnough.get()) {
                stripe.replaced(BYTES, oldBytes);
                // Like in an operation, so that each count is stored.
                Words.fullFence();
              }
            });
    try {
      for (int look = 0; look < LOOKS; look++) {
        assertThat(steps.growth().since(Growth.NONE)).as("look " + look).isLessThanOrEqualTo(BYTES);
      }
    } finally {
      isEnough.set(true);
      writer.join();
    }
    assertThat(steps.growth().since(Growth.NONE)).isZero();
  }

  /** A size that was seen counts as it is; an unknown size counts as the largest size so far. */
  @Test
  void deletedRecordsCountWithTheirLength() {
    SessionCounters steps = new SessionCounters();
    SessionCounters.Stripe stripe = steps.open();
    stripe.created(1000);
    stripe.created(10);
    stripe.replaced(30, 10);
    assertThat(steps.growth().since(Growth.NONE)).isEqualTo(1030);
    Growth before = steps.growth();
    stripe.ended(30);
    assertThat(steps.growth().since(before)).isEqualTo(-30);
    stripe.replaced(20, SessionCounters.UNKNOWN_BYTES);
    assertThat(steps.growth().since(before)).isEqualTo(20 - 30 - 1000);
    assertThat(steps.growth().lostSince(before)).isEqualTo(1030);
  }
}
