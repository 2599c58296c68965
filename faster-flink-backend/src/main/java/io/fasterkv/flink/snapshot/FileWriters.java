package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.state.CheckpointStreamWithResultProvider;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateObject;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.function.ThrowingConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the files of one checkpoint on its own threads, each with at most one open stream. The
 * thread that calls {@link #run} never calls the storage, so it returns in time even if the storage
 * hangs. If a file fails or the checkpoint is cancelled, all streams are closed first; then {@link
 * #run} waits for the threads for {@value #MOST_WAIT_MILLIS} ms at most. A thread that still hangs
 * is abandoned: when the storage returns, the thread finds its stream closed and discards its file.
 * For one checkpoint; {@link #close} is safe for all threads.
 */
final class FileWriters implements Closeable {
  private static final long MOST_WAIT_MILLIS = 500;

  private final String name;
  private final Cancellation cancellation;
  private final Logger logger;
  private final OpenStreams streams;
  private final List<Thread> threads = new ArrayList<>();

  // Guarded by this.
  private final Queue<Job> jobs = new ArrayDeque<>();
  private final List<StateObject> written = new ArrayList<>();
  private int running;
  private boolean isCancelled;
  private boolean isAbandoned;
  private @Nullable Throwable failure;

  /** One or more calls of the storage, for one or more files. */
  @FunctionalInterface
  interface Job {
    void run() throws Exception;
  }

  /** Opens a file's stream. */
  @FunctionalInterface
  interface Opening {
    CheckpointStreamWithResultProvider open() throws IOException;
  }

  /**
   * @param name the name of the threads
   * @param cancellation is cancelled when a file fails, and when this is closed
   * @param logger receives problems that do not fail the checkpoint, and threads that hang
   */
  FileWriters(String name, Cancellation cancellation, Logger logger) {
    this.name = name;
    this.cancellation = cancellation;
    this.logger = logger;
    streams = new OpenStreams(logger);
  }

  /**
   * Runs all jobs in their order.
   *
   * @param mostThreads how many run at a time
   * @throws CancellationException if this was closed, or if the thread was interrupted
   * @throws Exception the first failure of a job; the files are discarded then
   */
  void run(List<Job> all, int mostThreads) throws Exception {
    boolean isDone = false;
    try {
      start(all, Math.min(mostThreads, all.size()));
      isDone = awaitJobs();
    } finally {
      if (!isDone) {
        stop();
      }
    }
    if (!isDone) {
      throw cause();
    }
  }

  private void start(List<Job> all, int count) {
    synchronized (this) {
      jobs.addAll(all);
    }
    for (int i = 0; i < count; i++) {
      Thread thread = Thread.ofPlatform().daemon().name(name + "-" + i).unstarted(this::runJobs);
      synchronized (this) {
        running++;
      }
      try {
        thread.start();
        threads.add(thread);
      } catch (OutOfMemoryError noThread) {
        synchronized (this) {
          running--;
        }
        if (i == 0) {
          throw noThread;
        }
        logger.log(
            Level.WARNING,
            "a thread cannot be started; fewer threads write the files of a checkpoint: threads="
                + i
                + ", wanted="
                + count,
            noThread);
        return;
      }
    }
  }

  /** Returns whether all jobs were done; false if they must be stopped. */
  private synchronized boolean awaitJobs() {
    try {
      while (running > 0 && failure == null && !isCancelled) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      isCancelled = true;
    }
    return failure == null && !isCancelled;
  }

  private void runJobs() {
    try {
      Job job = next();
      while (job != null) {
        cancellation.check();
        job.run();
        job = next();
      }
    } catch (Throwable e) {
      synchronized (this) {
        if (failure == null) {
          failure = e;
        }
      }
    } finally {
      synchronized (this) {
        running--;
        notifyAll();
      }
    }
  }

  private synchronized @Nullable Job next() {
    return failure == null && !isCancelled ? jobs.poll() : null;
  }

  /**
   * Writes a file; for jobs. The stream stays registered until it is closed, since closing may hang
   * too.
   */
  SnapshotResult<StreamStateHandle> write(
      Opening opening, ThrowingConsumer<OutputStream, Exception> content) throws Exception {
    CheckpointStreamWithResultProvider to = streams.open(opening::open);
    try {
      content.accept(to.getCheckpointOutputStream());
      SnapshotResult<StreamStateHandle> result = to.closeAndFinalizeCheckpointStreamResult();
      boolean isComplete = streams.release(to);
      own(result);
      if (!isComplete) {
        throw new IOException("the snapshot was cancelled while its files were written");
      }
      return result;
    } finally {
      streams.close(to);
    }
  }

  /** Registers a job's file, which is discarded if the checkpoint fails. */
  void own(StateObject result) throws IOException {
    own(List.of(result));
  }

  /** Like {@link #own(StateObject)}, for several files: registers or discards all of them. */
  void own(List<? extends StateObject> results) throws IOException {
    synchronized (this) {
      if (!isAbandoned) {
        written.addAll(results);
        return;
      }
    }
    results.forEach(StateUtil::discardStateObjectQuietly);
    throw new IOException("the snapshot was cancelled while its files were written");
  }

  /** Cancels, and closes all streams. Returns within about a second. */
  @Override
  public void close() {
    cancellation.close();
    synchronized (this) {
      isCancelled = true;
      notifyAll();
    }
    streams.close();
  }

  private void stop() {
    boolean isInterrupted = Thread.interrupted();
    cancellation.close();
    streams.close();
    threads.forEach(Thread::interrupt);
    isInterrupted |= join(threads);
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized Exception cause() throws Exception {
    if (isCancelled || failure == null) {
      CancellationException cancelled = new CancellationException("the snapshot was cancelled");
      cancelled.initCause(failure);
      return cancelled;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    return (Exception) failure;
  }

  /**
   * Discards all files, including those that are finished later. Waits for a limited time, since
   * storage that hangs may not delete either.
   */
  void discard() {
    List<StateObject> discarded;
    synchronized (this) {
      isAbandoned = true;
      discarded = List.copyOf(written);
      written.clear();
    }
    if (discarded.isEmpty()) {
      return;
    }
    Thread thread =
        Thread.ofPlatform().daemon().name(name + "-discard").unstarted(() -> discardAll(discarded));
    boolean isInterrupted = Thread.interrupted();
    try {
      thread.start();
      isInterrupted |= join(List.of(thread));
    } catch (OutOfMemoryError noThread) {
      discardAll(discarded);
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void discardAll(List<StateObject> discarded) {
    try {
      StateUtil.bestEffortDiscardAllStateObjects(discarded);
    } catch (Exception e) {
      logger.log(
          Level.WARNING, "files of a failed checkpoint cannot be deleted: files=" + discarded, e);
    }
  }

  /** Returns whether the thread was interrupted meanwhile. */
  private boolean join(List<Thread> threads) {
    boolean isInterrupted = false;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MOST_WAIT_MILLIS);
    for (Thread thread : threads) {
      try {
        long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (!thread.join(java.time.Duration.ofMillis(Math.max(1, millis)))) {
          logger.log(
              Level.WARNING,
              "checkpoint storage hangs, and a thread is abandoned: thread="
                  + thread.getName()
                  + ", waitedMillis="
                  + MOST_WAIT_MILLIS);
        }
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    return isInterrupted;
  }
}
