package io.fasterkv.epoch;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.Stacks;
import io.fasterkv.state.StoreFailure;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests threads whose stack overflows inside {@link Epochs}. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
@Tag("seeds")
class StackOverflowTest {
  private final StoreFailure failure = new StoreFailure(System.getLogger("test"));
  private final Epochs epochs = new Epochs(4, failure);

  static IntStream rounds() {
    return IntStream.range(0, Seeds.part(20));
  }

  @ParameterizedTest
  @MethodSource("rounds")
  void aBumpThatOverflowsTheStackNeverStopsTheDrain(int round) {
    AtomicInteger ran = new AtomicInteger();
    int overflows =
        Stacks.overflow(() -> epochs.tryBump(ran::incrementAndGet), () -> epochs.drain());
    assertThat(overflows).isPositive();
    assertDrains();
    assertThat(ran.get()).isPositive();
    assertThat(failure.get()).isNull();
  }

  @ParameterizedTest
  @MethodSource("rounds")
  void aUserThatOverflowsTheStackNeverHoldsTheEpochUp(int round) {
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
