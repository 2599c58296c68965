package io.fasterkv.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.memory.Words;
import io.fasterkv.operation.ChainSteps.Growth;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is counted by one thread and summed up by another. */
class ChainStepsTest {
  private static final int BYTES = 24;
  private static final int LOOKS = 1_000_000;

  /**
   * Each value takes the place of another as large: nothing grows. Who reads the two counts of that
   * at different moments finds that hundreds of records have come. That some have gone may be found
   * by a look that is so slow, before it is compiled, that the writer is never at rest for it.
   */
  @ParameterizedTest
  @ValueSource(longs = {BYTES, Operation.UNKNOWN_BYTES})
  void whatIsReplacedIsNoGrowth(long oldBytes) throws Exception {
    ChainSteps steps = new ChainSteps();
    ChainSteps.Stripe stripe = steps.open();
    AtomicBoolean isEnough = new AtomicBoolean();
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              while (!isEnough.get()) {
                stripe.replaced(BYTES, oldBytes);
                // As an operation does, so that each count is stored.
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

  /** A size that was seen counts as it is, one that was not as the largest that there is. */
  @Test
  void whatEndsCountsForWhatItWas() {
    ChainSteps steps = new ChainSteps();
    ChainSteps.Stripe stripe = steps.open();
    stripe.created(1000);
    stripe.created(10);
    stripe.replaced(30, 10);
    assertThat(steps.growth().since(Growth.NONE)).isEqualTo(1030);
    Growth before = steps.growth();
    stripe.ended(30);
    assertThat(steps.growth().since(before)).isEqualTo(-30);
    stripe.replaced(20, Operation.UNKNOWN_BYTES);
    assertThat(steps.growth().since(before)).isEqualTo(20 - 30 - 1000);
    assertThat(steps.growth().lostSince(before)).isEqualTo(1030);
  }
}
