package io.fasterkv.checkpoint.recover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.checkpoint.RecoveryProgress;
import io.fasterkv.api.checkpoint.RecoveryProgress.Phase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ParallelPiecesTest {
  private static final int PIECES = 200;
  private static final int THREADS = ParallelPieces.MOST_THREADS;

  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final List<RecoveryProgress> reported = new ArrayList<>();
  private final Progress progress = new Progress(this::report);

  private void report(RecoveryProgress now) {
    assertThat(Thread.currentThread().getName()).doesNotStartWith("faster-recovery");
    reported.add(now);
  }

  @AfterEach
  void noThreadIsLeft() {
    assertThat(threads)
        .filteredOn(thread -> thread.getName().startsWith("faster-recovery"))
        .noneMatch(Thread::isAlive);
  }

  private void run(int count, ParallelPieces.Worker worker) {
    ParallelPieces.Worker noted =
        piece -> {
          threads.add(Thread.currentThread());
          return worker.work(piece);
        };
    ParallelPieces.run(count, Collections.nCopies(THREADS, noted), progress);
  }

  @Test
  void processesEachPieceOnceAndReportsItsBytes() {
    AtomicIntegerArray done = new AtomicIntegerArray(PIECES);
    progress.begin(Phase.VERIFY, PIECES * 8L);
    run(
        PIECES,
        piece -> {
          done.incrementAndGet(piece);
          return 8;
        });
    progress.end();
    for (int piece = 0; piece < PIECES; piece++) {
      assertThat(done.get(piece)).as("piece " + piece).isEqualTo(1);
    }
    assertThat(reported).extracting(RecoveryProgress::doneBytes).isSorted();
    assertThat(reported).allMatch(now -> now.doneBytes() <= now.totalBytes());
  }

  @Test
  void worksOnAllThreadsAtOnce() {
    CyclicBarrier all = new CyclicBarrier(THREADS);
    run(
        THREADS,
        piece -> {
          await(all);
          return 1;
        });
    assertThat(threads).hasSize(THREADS);
  }

  @Test
  void aSinglePieceTakesNoOtherThread() {
    run(0, piece -> 1);
    run(1, piece -> 1);
    assertThat(threads).containsOnly(Thread.currentThread());
  }

  @Test
  void throwsTheFailureOfTheLowestPieceWhicheverIsFirst() {
    CountDownLatch higherHasFailed = new CountDownLatch(1);
    Set<Integer> begun = ConcurrentHashMap.newKeySet();
    assertThatThrownBy(() ->
            run(
                PIECES,
                piece -> {
                  begun.add(piece);
                  if (piece == 1) {
                    await(higherHasFailed);
                    throw new IllegalStateException("piece 1");
                  }
                  if (piece == 2) {
                    // About to end when the other thread fails, or shortly before.
                    higherHasFailed.countDown();
                    throw new IllegalStateException("piece 2");
                  }
                  return 1;
                }))
        .hasMessage("piece 1")
        .satisfies(e -> assertThat(e.getSuppressed()).extracting("message").contains("piece 2"));
    assertThat(begun).contains(0, 1, 2);
  }

  @Test
  void beginsNoOtherPieceOnceOneHasFailed() {
    CyclicBarrier all = new CyclicBarrier(THREADS);
    Set<Integer> begun = ConcurrentHashMap.newKeySet();
    assertThatThrownBy(() ->
            run(
                PIECES,
                piece -> {
                  begun.add(piece);
                  await(all);
                  throw new IllegalStateException("piece " + piece);
                }))
        .hasMessage("piece 0");
    assertThat(begun).hasSize(THREADS);
  }

  @Test
  void aListenerThatThrowsEndsTheWork() {
    Thread caller = Thread.currentThread();
    CountDownLatch reported = new CountDownLatch(1);
    Progress failing =
        new Progress(now -> {
          if (now.doneBytes() > 0) {
            reported.countDown();
            throw new IllegalStateException("the listener");
          }
        });
    failing.begin(Phase.INDEX, PIECES);
    Set<Integer> begun = ConcurrentHashMap.newKeySet();
    List<ParallelPieces.Worker> workers =
        Collections.nCopies(
            THREADS,
            piece -> {
              begun.add(piece);
              if (!Thread.currentThread().equals(caller)) {
                await(reported);
                awaitState(caller, Thread.State.WAITING);
              }
              return PIECES / 10;
            });
    assertThatThrownBy(() -> ParallelPieces.run(PIECES, workers, failing))
        .hasMessage("the listener");
    assertThat(begun).hasSizeLessThan(PIECES);
  }

  /** The caller waits for the other threads only after they have been notified of its failure. */
  private static void awaitState(Thread thread, Thread.State state) {
    while (thread.getState() != state) {
      Thread.onSpinWait();
    }
  }

  @Test
  void anInterruptedCallerWaitsForTheOthersAndStaysInterrupted() {
    CyclicBarrier all = new CyclicBarrier(THREADS);
    CountDownLatch callerIsDone = new CountDownLatch(1);
    Thread caller = Thread.currentThread();
    run(
        THREADS,
        piece -> {
          await(all);
          if (Thread.currentThread().equals(caller)) {
            caller.interrupt();
            callerIsDone.countDown();
          } else {
            await(callerIsDone);
          }
          return 1;
        });
    assertThat(Thread.interrupted()).isTrue();
    noThreadIsLeft();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
