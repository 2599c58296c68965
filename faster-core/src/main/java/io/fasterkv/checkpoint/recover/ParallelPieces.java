package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.StoreException.DeviceFailed;
import io.fasterkv.memory.OwnThread;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Processes pieces of work on the caller's thread and a few others, so that the disk works while
 * bytes are verified. The other threads have ended when this returns or throws.
 *
 * <p>Pieces are started in order. After one has failed no other is started, and the started ones
 * are completed: so all pieces before the failed one have been tried. The failure that is thrown is
 * the one of the lowest piece, as with a single thread.
 */
final class ParallelPieces {
  /** The caller's thread and three more. */
  static final int MOST_THREADS = 4;

  private static final int BEFORE_ALL = -1;
  private static final Duration POLL = Duration.ofMillis(20);
  private static final long MOST_WAIT_MILLIS = 1_500;

  private final int count;
  private final List<? extends Worker> workers;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicLong unreportedBytes = new AtomicLong();
  private volatile @Nullable Throwable failure;
  private int failedPiece;

  /** Processes one piece at a time; an exception ends the whole work. */
  @FunctionalInterface
  interface Worker {
    /** Processes a piece; returns its number of bytes. */
    long work(int piece);
  }

  private ParallelPieces(int count, List<? extends Worker> workers) {
    this.count = count;
    this.workers = workers.subList(0, Math.clamp(count, 1, workers.size()));
  }

  /**
   * Processes pieces 0 to {@code count - 1}.
   *
   * @param workers one for each thread
   * @param progress called only on the caller's thread
   */
  static void run(int count, List<? extends Worker> workers, Progress progress) {
    new ParallelPieces(count, workers).run(progress);
  }

  /**
   * Like {@link #run}, but not on the caller's thread, for pieces in storage that may hang. The
   * caller checks the progress every {@code POLL}. A listener that throws, or an interrupt, ends
   * the work at once; the caller then waits for the threads within a time limit.
   *
   * @param logger receives the names of threads that hang
   */
  static void runAside(
      int count, List<? extends Worker> workers, Progress progress, Logger logger) {
    new ParallelPieces(count, workers).runAside(progress, logger);
  }

  private void runAside(Progress progress, Logger logger) {
    List<Thread> threads = new ArrayList<>();
    try {
      for (Worker worker : workers) {
        threads.add(startThread(threads.size(), worker));
      }
      for (Thread thread : threads) {
        while (!thread.join(POLL)) {
          progress.add(unreportedBytes.getAndSet(0));
          progress.repeat();
        }
      }
      if (failure != null) {
        progress.repeat(); // reads may have failed because the recovery was ended
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
        "threads that build an index from a log's origin",
        logger);
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
      work(workers.getFirst(), () -> progress.add(unreportedBytes.getAndSet(0)));
    } catch (RuntimeException | Error e) {
      failed(BEFORE_ALL, e); // a thread did not start
    } finally {
      // They use memory that the caller frees.
      others.forEach(OwnThread::awaitEnd);
    }
    throwIfFailed();
  }

  private void work(Worker worker, Runnable afterEach) {
    // Checked before a piece is taken: a piece that was taken is completed.
    while (failure == null) {
      int piece = next.getAndIncrement();
      if (piece >= count) {
        return;
      }
      try {
        unreportedBytes.addAndGet(worker.work(piece));
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

  private static void addTo(Throwable first, @Nullable Throwable other) {
    if (other != null && other != first) {
      first.addSuppressed(other);
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
