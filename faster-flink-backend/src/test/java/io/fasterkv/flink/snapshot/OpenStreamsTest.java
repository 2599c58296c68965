package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the registry closes all open streams, and that every wait has a limit. */
@Timeout(60)
class OpenStreamsTest {
  private static final Duration BOUND = Duration.ofSeconds(5);

  private final OpenStreams streams = new OpenStreams(System.getLogger("test"));
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
  void aHangingOpeningBlocksNoOtherAndItsStreamIsClosedInTheEnd() throws Exception {
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
        // Keeps waiting.
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

  /** Each stream has two threads: the first opens it, the second closes it. */
  private static OpenStreams withoutThreads(int firstThatFails, int step) {
    AtomicInteger made = new AtomicInteger();
    return new OpenStreams(
        System.getLogger("test"),
        work -> {
          int number = made.getAndIncrement();
          return new Thread(work) {
            @Override
            public void start() {
              if (number >= firstThatFails && (number - firstThatFails) % step == 0) {
                throw new OutOfMemoryError("injected");
              }
              super.start();
            }
          };
        });
  }

  @Test
  void anOpeningWithoutAThreadLeavesNothing() {
    OpenStreams failing = withoutThreads(0, 2);
    assertThatThrownBy(() -> failing.open(this::counting)).isInstanceOf(OutOfMemoryError.class);
    failing.close();
    assertThat(failing.count()).isZero();
    assertThat(closed.get()).isZero();
  }

  @Test
  void allStreamsAreClosedWithoutThreadsAndDespiteErrors() throws Exception {
    OpenStreams failing = withoutThreads(1, 2);
    for (int i = 0; i < 3; i++) {
      failing.open(() ->
          (Closeable)
              () -> {
                closed.incrementAndGet();
                throw new OutOfMemoryError("injected");
              });
      failing.open(this::counting);
    }
    failing.close();
    assertThat(closed.get()).isEqualTo(6);
    assertThat(failing.count()).isZero();
  }

  /** Closing a stream that has no thread may hang, so it is closed last. */
  @Test
  void aStreamWithoutAThreadIsClosedAfterAllOthers() throws Exception {
    OpenStreams failing = withoutThreads(1, 4);
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 4; i++) {
      int number = i;
      failing.open(() -> (Closeable) () -> order.add(number));
    }
    failing.close();
    assertThat(order.subList(0, 2)).containsExactlyInAnyOrder(1, 3);
    assertThat(order.subList(2, 4)).containsExactlyInAnyOrder(0, 2);
  }

  @Test
  void anErrorInAnOpeningReachesTheCaller() {
    assertThatThrownBy(() ->
            streams.open(() -> {
              throw new OutOfMemoryError("injected");
            }))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(streams.count()).isZero();
  }
}
