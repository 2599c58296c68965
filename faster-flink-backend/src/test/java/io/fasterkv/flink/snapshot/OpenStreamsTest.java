package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The registry closes all open streams, and every wait has a limit. */
@Timeout(60)
class OpenStreamsTest {
  private static final Duration BOUND = Duration.ofSeconds(5);

  private final OpenStreams streams = new OpenStreams();
  private final AtomicInteger closed = new AtomicInteger();

  private Closeable counting() {
    return closed::incrementAndGet;
  }

  @Test
  void closesEachStreamOnceAndRefusesLaterOnes() throws Exception {
    Closeable first = streams.open(this::counting);
    streams.open(this::counting);
    streams.close(first);
    streams.close(first);
    assertThat(closed.get()).isEqualTo(1);
    streams.close();
    streams.close();
    assertThat(closed.get()).isEqualTo(2);
    assertThat(streams.count()).isZero();
    assertThatThrownBy(() -> streams.open(this::counting))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the task was cancelled");
    assertThat(closed.get()).isEqualTo(2);
  }

  @Test
  void aReleasedStreamIsItsCallersToClose() throws Exception {
    Closeable stream = streams.open(this::counting);
    assertThat(streams.release(stream)).isTrue();
    assertThat(streams.release(stream)).isFalse();
    streams.close();
    assertThat(closed.get()).isZero();
  }

  @Test
  void anOpeningThatHangsKeepsNobodyAndItsStreamIsClosedInTheEnd() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    CountDownLatch last = new CountDownLatch(1);
    Thread closer =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              awaitDeafly(begun);
              streams.close();
            });
    assertThatThrownBy(() ->
            streams.open(() -> {
              begun.countDown();
              awaitDeafly(open);
              return (Closeable) last::countDown;
            }))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the task was cancelled");
    assertThat(closer.join(BOUND)).isTrue();
    open.countDown();
    last.await();
    assertThat(streams.count()).isZero();
  }

  @Test
  void aCallerThatIsInterruptedLeavesNoStreamOpen() throws Exception {
    CountDownLatch open = new CountDownLatch(1);
    CountDownLatch last = new CountDownLatch(1);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() ->
            streams.open(() -> {
              awaitDeafly(open);
              return (Closeable) last::countDown;
            }))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("interrupted");
    assertThat(Thread.interrupted()).isTrue();
    open.countDown();
    last.await();
    assertThat(streams.count()).isZero();
  }

  /** Hanging storage ignores interrupts. */
  private static void awaitDeafly(CountDownLatch latch) {
    while (true) {
      try {
        latch.await();
        return;
      } catch (InterruptedException e) {
        // It goes on.
      }
    }
  }

  @Test
  void aStreamThatHangsInItsCloseKeepsNoOtherOpen() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    try {
      for (int i = 0; i < 3; i++) {
        streams.open(() ->
            (Closeable)
                () -> {
                  try {
                    never.await();
                  } catch (InterruptedException e) {
                    throw new IOException(e);
                  }
                });
        streams.open(this::counting);
      }
      long start = System.nanoTime();
      streams.close();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(BOUND);
      assertThat(closed.get()).isEqualTo(3);
    } finally {
      never.countDown();
    }
  }
}
