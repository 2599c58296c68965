package io.fasterkv.demo.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PlannedFailureTest {
  @Test
  void throwsOnceAtItsPlace() {
    PlannedFailure failure = new PlannedFailure(10);
    failure.wordSeen(9, 0);
    assertThat(failure.isThrown()).isFalse();

    assertThatThrownBy(() -> failure.wordSeen(10, 0)).hasMessageContaining("on purpose");

    assertThat(failure.isThrown()).isTrue();
    failure.wordSeen(11, 0);
    assertThat(failure.isRecovered()).isFalse();
    failure.wordSeen(8, 1);
    assertThat(failure.isRecovered()).isTrue();
  }

  @Test
  void onlyTheRestartAfterItIsPlanned() {
    PlannedFailure failure = new PlannedFailure(10);
    failure.attemptStarted(0, 1);
    assertThat(failure.unplannedRestarts()).isEqualTo(1);

    assertThatThrownBy(() -> failure.wordSeen(10, 1)).hasMessageContaining("on purpose");
    assertThat(failure.unplannedRestarts()).isEqualTo(1);
    failure.attemptStarted(0, 2);
    assertThat(failure.unplannedRestarts()).isEqualTo(1);
    failure.attemptStarted(1, 2);
    assertThat(failure.unplannedRestarts()).isEqualTo(3);
  }
}
