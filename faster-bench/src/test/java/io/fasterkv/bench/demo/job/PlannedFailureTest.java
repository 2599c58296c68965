package io.fasterkv.bench.demo.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PlannedFailureTest {
  @Test
  void throwsOnceAtItsPlace() {
    PlannedFailure failure = new PlannedFailure(10);
    failure.maybeThrow(9);
    assertThat(failure.isThrown()).isFalse();

    assertThatThrownBy(() -> failure.maybeThrow(10)).hasMessageContaining("on purpose");

    assertThat(failure.isThrown()).isTrue();
    failure.maybeThrow(11);
  }

  @Test
  void restartsAreCountedForEachStage() {
    PlannedFailure failure = new PlannedFailure(10);
    failure.attemptStarted(0, 1);
    failure.attemptStarted(0, 0);
    failure.attemptStarted(1, 2);

    assertThat(failure.restarts(0)).isEqualTo(1);
    assertThat(failure.restarts(1)).isEqualTo(2);
  }
}
