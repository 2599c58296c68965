package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.Stacks;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("long")
@Tag("seeds")
class StackReserveTest {
  /** At least as many calls as a trigger action makes. */
  private static final int CALLS = 60;

  /** At least as many calls as the release of a record makes. */
  private static final int CALLS_OF_A_RELEASE = 20;

  static IntStream rounds() {
    return IntStream.range(0, Seeds.part(20));
  }

  @ParameterizedTest
  @MethodSource("rounds")
  void workAfterACheckNeverOverflowsTheStack(int round) {
    assertEnough(StackReserve::require, CALLS);
  }

  @ParameterizedTest
  @MethodSource("rounds")
  void aReleaseAfterACheckNeverOverflowsTheStack(int round) {
    assertEnough(() -> StackReserve.requireForRelease(round), CALLS_OF_A_RELEASE);
  }

  private static void assertEnough(Runnable check, int calls) {
    AtomicInteger cut = new AtomicInteger();
    int overflows =
        Stacks.overflow(
            () -> {
              check.run();
              try {
                call(calls);
              } catch (StackOverflowError e) {
                cut.incrementAndGet();
              }
            },
            () -> {});
    assertThat(overflows).isPositive();
    assertThat(cut.get()).isZero();
  }

  private static int call(int left) {
    return left == 0 ? 0 : 1 + call(left - 1);
  }
}
