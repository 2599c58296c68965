package io.fasterkv.checkpoint;

import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.memory.OwnThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Does the pieces of a work on the caller's thread and a few others, so that the disk works while
 * bytes are checked. The others have ended when this returns or throws.
 *
 * <p>Pieces are begun in order. Once one has failed no other is begun, and those that were begun
 * come to their end: all below a piece that failed have been tried. So what is thrown is the
 * failure of the lowest, the one that a single thread would have met.
 */
final class ParallelPieces {
  /** The caller's and three more. */
  static final int MOST_THREADS = 4;

  private static final int BEFORE_ALL = -1;
  private static final Duration POLL = Duration.ofMillis(20);
  private static final long MOST_WAIT_MILLIS = 1_500;

  private final int count;
  private final List<? extends Worker> workers;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicLong untoldBytes = new AtomicLong();
  private volatile @Nullable Throwable failure;
  private int failedPiece;

  /** Does pieces, one at a time; what it throws ends the whole work. */
  @FunctionalInterface
  interface Worker {
    /** Returns how many bytes that was. */
    long work(int piece);
  }

  private ParallelPieces(int count, List<? extends Worker> workers) {
    this.count = count;
    this.workers = workers.subList(0, Math.clamp(count, 1, workers.size()));
  }

  /**
   * Does pieces 0 to {@code count - 1}.
   *
   * @param workers one for each thread
   * @param progress is told on the caller's thread alone
   */
  static void run(int count, List<? extends Worker> workers, Progress progress) {
    new ParallelPieces(count, workers).run(progress);
  }

  /**
   * Like {@link #run}, but not on the caller's thread, for pieces in storage that may hang. The
   * caller checks the progress every {@code POLL}. A listener that throws, or an interrupt, ends
   * the work at once; the caller then waits for the threads within a time limit.
   */
  static void runAside(int count, List<? extends Worker> workers, Progress progress) {
    new ParallelPieces(count, workers).runAside(progress);
  }

  private void runAside(Progress progress) {
    List<Thread> threads = new ArrayList<>();
    try {
      for (Worker worker : workers) {
        threads.add(startThread(threads.size(), worker));
      }
      for (Thread thread : threads) {
        while (!thread.join(POLL)) {
          progress.add(untoldBytes.getAndSet(0));
          progress.look();
        }
      }
      if (failure != null) {
        progress.look(); // reads may have failed because the recovery was ended
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failed(BEFORE_ALL, new DeviceFailed("interrupted while a log was read for its index", e));
    } catch (RuntimeException | Error e) {
      failed(BEFORE_ALL, e);
    }
    threads.forEach(Thread::interrupt);
    OwnThread.awaitEnd(
        threads,
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MOST_WAIT_MILLIS),
        "threads that build an index from a log's origin");
    throwIfFailed();
  }

  private Thread startThread(int number, Worker worker) {
    return Thread.ofPlatform()
        .daemon()
        .name("faster-recovery-" + number)
        .start(() -> work(worker, () -> {}));
  }

  private void run(Progress progress) {
    List<Thread> others = new ArrayList<>();
    try {
      for (Worker worker : workers.subList(1, workers.size())) {
        others.add(startThread(others.size(), worker));
      }
      work(workers.getFirst(), () -> progress.add(untoldBytes.getAndSet(0)));
    } catch (RuntimeException | Error e) {
      failed(BEFORE_ALL, e); // a thread did not start
    } finally {
      // They use memory that the caller gives back.
      others.forEach(OwnThread::awaitEnd);
    }
    throwIfFailed();
  }

  private void work(Worker worker, Runnable afterEach) {
    // Asked before a piece is taken: what was taken is done.
    while (failure == null) {
      int piece = next.getAndIncrement();
      if (piece >= count) {
        return;
      }
      try {
        untoldBytes.addAndGet(worker.work(piece));
        afterEach.run();
      } catch (RuntimeException | Error e) {
        failed(piece, e);
      }
    }
  }

  private synchronized void failed(int piece, Throwable cause) {
    Throwable other = failure;
    if (other == null || piece < failedPiece) {
      failedPiece = piece;
      failure = cause;
      addTo(cause, other);
    } else {
      addTo(other, cause);
    }
  }

  private static void addTo(Throwable told, @Nullable Throwable other) {
    if (other != null && other != told) {
      told.addSuppressed(other);
    }
  }

  private void throwIfFailed() {
    switch (failure) {
      case null -> {}
      case Error e -> throw e;
      case RuntimeException e -> throw e;
      case Throwable e -> throw new IllegalStateException("a piece cannot throw this", e);
    }
  }
}
