package io.fasterkv.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.StoreException.DeviceFailed;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class StoreFailureTest {
  private final StoreFailure failure = new StoreFailure(System.getLogger("test"));

  @Test
  void withoutAFailureNothingIsThrown() {
    assertThat(failure.isSet()).isFalse();
    assertThat(failure.get()).isNull();
    assertThatCode(failure::throwIfSet).doesNotThrowAnyException();
  }

  @Test
  void theFirstFailureIsKept() {
    OutOfMemoryError first = new OutOfMemoryError("on purpose");
    failure.accept(first);
    failure.accept(new IOException("later"));
    assertThat(failure.get()).isSameAs(first);
    assertThatThrownBy(failure::throwIfSet)
        .isInstanceOf(DeviceFailed.class)
        .hasMessageContaining("the store has failed")
        .hasMessageContaining("OutOfMemoryError: on purpose")
        .hasCause(first);
  }

  @Test
  void aFailureOfTheDeviceIsNamedSo() {
    failure.accept(new IOException("no such disk"));
    assertThatThrownBy(failure::throwIfSet)
        .hasMessageContaining("the log's device has failed")
        .hasMessageContaining("no such disk");
  }

  @Test
  void workWithoutACallerRecordsWhatItThrowsAndReturns() {
    StackOverflowError thrown = new StackOverflowError("on purpose");
    failure.run(() -> {
      throw thrown;
    });
    assertThat(failure.get()).isSameAs(thrown);
  }

  @Test
  void aThreadThatFailsRecordsIt() throws InterruptedException {
    AssertionError thrown = new AssertionError("on purpose");
    Thread thread =
        failure.thread(
            "faster-test",
            () -> {
              throw thrown;
            });
    assertThat(thread.isDaemon()).isTrue();
    thread.start();
    thread.join();
    assertThat(failure.get()).isSameAs(thrown);
  }

  @Test
  void aDevicesExceptionIsTheCauseOfAnIoException() {
    IOException known = new IOException("known");
    assertThat(StoreFailure.asIoException(known)).isSameAs(known);
    AssertionError thrown = new AssertionError("on purpose");
    assertThat(StoreFailure.asIoException(thrown)).hasCause(thrown).hasMessageContaining("failed");
  }
}
