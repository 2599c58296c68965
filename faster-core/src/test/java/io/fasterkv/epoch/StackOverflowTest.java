package io.fasterkv.epoch;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Stacks;
import io.fasterkv.state.StoreFailure;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** Tests threads whose stack overflows inside {@link Epochs}. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class StackOverflowTest {
  private final StoreFailure failure = new StoreFailure(System.getLogger("test"));
  private final Epochs epochs = new Epochs(4, failure);

  @RepeatedTest(20)
  void aBumpThatOverflowsTheStackNeverStopsTheDrain() {
    AtomicInteger ran = new AtomicInteger();
    int overflows =
        Stacks.overflow(() -> epochs.tryBump(ran::incrementAndGet), () -> epochs.drain());
    assertThat(overflows).isPositive();
    assertDrains();
    assertThat(ran.get()).isPositive();
    assertThat(failure.get()).isNull();
  }

  @RepeatedTest(20)
  void aUserThatOverflowsTheStackNeverHoldsTheEpochUp() {
    EpochUser user = epochs.register();
    AtomicInteger ran = new AtomicInteger();
    int overflows =
        Stacks.overflow(
            () -> {
              user.protect();
              try {
                epochs.tryBump(ran::incrementAndGet);
              } finally {
                user.unprotect();
              }
            },
            () -> epochs.drain());
    assertThat(overflows).isPositive();
    assertDrains();
    assertThat(failure.get()).isNull();
  }

  private void assertDrains() {
    AtomicInteger after = new AtomicInteger();
    epochs.bump(after::incrementAndGet);
    epochs.drain();
    assertThat(after.get()).as("holders: " + epochs.holders()).isEqualTo(1);
    assertThat(epochs.safeEpoch()).isEqualTo(epochs.currentEpoch() - 1);
  }
}
