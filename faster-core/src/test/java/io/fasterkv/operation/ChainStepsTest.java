package io.fasterkv.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.memory.Words;
import io.fasterkv.operation.ChainSteps.Growth;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What is counted by one thread and summed up by another. */
class ChainStepsTest {
  private static final int BYTES = 24;
  private static final int LOOKS = 1_000_000;

  /**
   * Each value takes the place of another as large: nothing grows. Who reads the two counts of that
   * at different moments finds that hundreds of records have come. That some have gone may be found
   * by a look that is so slow, before it is compiled, that the writer is never at rest for it.
   */
  @Test
  void whatIsReplacedIsNoGrowth() throws Exception {
    ChainSteps steps = new ChainSteps();
    ChainSteps.Stripe stripe = steps.open();
    AtomicBoolean isEnough = new AtomicBoolean();
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              while (!isEnough.get()) {
                stripe.replaced(BYTES);
                // As an operation does, so that each count is stored.
                Words.fullFence();
              }
            });
    try {
      Growth nothing = new Growth(0, 0, 0);
      for (int look = 0; look < LOOKS; look++) {
        assertThat(steps.growth().since(nothing)).as("look " + look).isLessThanOrEqualTo(BYTES);
      }
    } finally {
      isEnough.set(true);
      writer.join();
    }
    assertThat(steps.growth().since(new Growth(0, 0, 0))).isZero();
  }
}
