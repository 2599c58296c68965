package io.fasterkv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
@Tag("seeds")
class FileWritersTest {
  private static final int STREAMS = 4;

  private final HangingWrites storage = new HangingWrites();
  private final Cancellation cancellation = new Cancellation();
  private final FileWriters writers =
      new FileWriters("test-upload", cancellation, System.getLogger("test"));

  private CheckpointStreamWithResultProvider open() throws IOException {
    return CheckpointStreamWithResultProvider.createSimpleStream(
        CheckpointedStateScope.SHARED, storage);
  }

  private FileWriters.Job file() {
    return () -> writers.write(this::open, out -> out.write(new byte[100]));
  }

  private List<FileWriters.Job> files(int count) {
    List<FileWriters.Job> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      files.add(file());
    }
    return files;
  }

  private static void awaitEnd(Thread thread) throws InterruptedException {
    assertThat(thread.join(Duration.ofSeconds(5))).as(thread.getName()).isTrue();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void asManyFilesAreWrittenAtATimeAsThereAreStreamsAndNoMore() throws Exception {
    CyclicBarrier together = new CyclicBarrier(STREAMS);
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<FileWriters.Job> jobs = new ArrayList<>();
    for (int i = 0; i < 5 * STREAMS; i++) {
      jobs.add(() -> {
        most.accumulateAndGet(now.incrementAndGet(), Math::max);
        together.await();
        now.decrementAndGet();
        together.await();
      });
    }
    writers.run(jobs, STREAMS);
    assertThat(most).hasValue(STREAMS);
  }

  @Test
  void aFailureEndsTheOthersAndDiscardsAllFiles() {
    List<FileWriters.Job> jobs = files(3);
    jobs.add(() -> {
      throw new IOException("refused");
    });
    jobs.addAll(files(3));
    assertThatThrownBy(() -> writers.run(jobs, 2)).isInstanceOf(IOException.class);
    writers.discard();
    assertThat(storage.files()).isZero();
    assertThat(storage.openStreams()).isZero();
    assertThatThrownBy(cancellation::check).isInstanceOf(CancellationException.class);
  }

  @Test
  void anErrorReachesTheCaller() {
    FileWriters.Job failing =
        () -> {
          throw new OutOfMemoryError("injected");
        };
    assertThatThrownBy(() -> writers.run(List.of(failing), 2)).isInstanceOf(OutOfMemoryError.class);
  }

  @Test
  void nothingIsStartedAfterItWasClosed() {
    writers.close();
    assertThatThrownBy(() -> writers.run(files(3), 2)).isInstanceOf(CancellationException.class);
    assertThat(storage.calls()).isZero();
  }

  /** A stream hangs in a write, and then also in its close, as Flink's own streams do. */
  @Test
  void aThreadThatHangsForEverIsLeftAloneAndDiscardsItsFileWhenItReturns() throws Exception {
    storage.hangFrom(STREAMS + 2, true);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread caller =
        Thread.ofPlatform()
            .start(() -> {
              try {
                writers.run(files(2 * STREAMS), STREAMS);
              } catch (Throwable e) {
                thrown.set(e);
                writers.discard();
              }
            });
    storage.awaitHanging();
    writers.close();
    awaitEnd(caller);
    assertThat(thrown.get()).isInstanceOf(CancellationException.class);
    storage.release();
    storage.awaitNothingLeft();
  }

  /** The cancelling thread does not wait: the last thread that uses the store releases it. */
  @Test
  void theStoreIsReleasedAfterItsLastUse() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    AtomicInteger uses = new AtomicInteger();
    Thread user =
        Thread.ofPlatform()
            .start(() ->
                cancellation.inStore(() -> {
                  inside.countDown();
                  awaitUninterruptibly(leave);
                  uses.incrementAndGet();
                }));
    inside.await();
    AtomicInteger usesSeen = new AtomicInteger(-1);
    cancellation.releaseWhenUnused(() -> usesSeen.set(uses.get()));
    assertThat(usesSeen).as("not released while in use").hasValue(-1);
    leave.countDown();
    awaitEnd(user);
    assertThat(usesSeen).hasValue(1);
    assertThatThrownBy(() -> cancellation.inStore(uses::incrementAndGet))
        .isInstanceOf(CancellationException.class);
    assertThat(uses).hasValue(1);
  }

  /** A storage that copies files creates all of them in one call, which may end too late. */
  @Test
  void lateFilesOfOneCallAreAllDiscarded() {
    AtomicInteger discarded = new AtomicInteger();
    List<StateObject> copies = List.of(file(discarded), file(discarded), file(discarded));
    writers.discard();
    assertThatThrownBy(() -> writers.own(copies)).isInstanceOf(IOException.class);
    assertThat(discarded).hasValue(3);
  }

  private static StateObject file(AtomicInteger discarded) {
    return new ByteStreamStateHandle("copy", new byte[1]) {
      private static final long serialVersionUID = 1;

      @Override
      public void discardState() {
        discarded.incrementAndGet();
      }
    };
  }

  @Test
  void whateverFailsOrHangsNoStreamAndNoFileIsLeft() throws Throwable {
    Seeds.run(30, FileWritersTest::failOrHang);
  }

  private static void failOrHang(SplittableRandom random) throws Exception {
    FileWritersTest test = new FileWritersTest();
    int files = 1 + random.nextInt(8);
    int streams = 1 + random.nextInt(STREAMS);
    int call = random.nextInt(3 * files);
    boolean hangs = random.nextBoolean();
    if (hangs) {
      test.storage.hangFrom(call, false);
    } else {
      test.storage.failAt(call);
    }
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread caller =
        Thread.ofPlatform()
            .start(() -> {
              try {
                test.writers.run(test.files(files), streams);
              } catch (Throwable e) {
                thrown.set(e);
                test.writers.discard();
              }
            });
    if (hangs) {
      test.storage.awaitHanging();
      test.writers.close();
    }
    awaitEnd(caller);
    assertThat(thrown.get()).isInstanceOf(hangs ? CancellationException.class : IOException.class);
    test.storage.awaitNothingOpen();
    assertThat(test.storage.files()).isZero();
  }
}
