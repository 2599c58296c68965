package io.fasterkv.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Stacks;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;

@Tag("slow")
class StackReserveTest {
  /** At least as many calls as a trigger action makes. */
  private static final int CALLS = 60;

  @RepeatedTest(20)
  void workAfterACheckNeverOverflowsTheStack() {
    AtomicInteger cut = new AtomicInteger();
    int overflows =
        Stacks.overflow(
            () -> {
              StackReserve.require();
              try {
                call(CALLS);
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
