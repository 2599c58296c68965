package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open streams of checkpoint storage. Everything that reads or writes checkpoint storage opens
 * its streams here. {@link #close} closes them all, and every later {@link #open} is refused, so
 * that a thread that hangs in a read or a write ends before anything waits for it.
 *
 * <p>A separate thread opens each stream, and another closes it, since both may hang like a read.
 * {@link #close} ends the wait for an opening at once, and waits for the threads for {@value
 * #MOST_WAIT_MILLIS} ms at most. A stream whose opening returns after that is closed at once. Safe
 * for all threads.
 */
public final class OpenStreams implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenStreams.class);
  private static final long MOST_WAIT_MILLIS = 1_000;
  private static final AtomicLong OPENINGS = new AtomicLong();

  private final Set<Closeable> open = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<Opener<?>> openers = Collections.newSetFromMap(new IdentityHashMap<>());
  private boolean isClosed;

  /** Opens a stream; may block. */
  @FunctionalInterface
  public interface Opening<S extends Closeable> {
    S open() throws IOException;
  }

  /** The thread that opens one stream. */
  private final class Opener<S extends Closeable> implements Runnable {
    private final Opening<S> opening;
    private final CompletableFuture<S> result = new CompletableFuture<>();
    private final Thread thread;

    Opener(Opening<S> opening) {
      this.opening = opening;
      thread =
          Thread.ofPlatform()
              .daemon()
              .name("faster-stream-open-" + OPENINGS.getAndIncrement())
              .unstarted(this);
    }

    @Override
    public void run() {
      try {
        S stream = opening.open();
        if (!accept(stream)) {
          closeQuietly(stream);
        }
      } catch (Throwable failure) {
        forget();
        result.completeExceptionally(failure);
      }
    }

    /** Whether the stream is registered; if not, no thread waits for it any more. */
    private boolean accept(S stream) {
      synchronized (OpenStreams.this) {
        openers.remove(this);
        if (isClosed || !result.complete(stream)) {
          return false;
        }
        open.add(stream);
        return true;
      }
    }

    void forget() {
      synchronized (OpenStreams.this) {
        openers.remove(this);
      }
    }

    S await() throws IOException {
      try {
        return result.get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        InterruptedIOException interrupted =
            new InterruptedIOException(
                "interrupted while a stream of checkpoint storage was opened");
        if (!giveUp(interrupted)) {
          close(result.join());
        }
        throw interrupted;
      } catch (ExecutionException e) {
        throw rethrown(e.getCause());
      }
    }

    /** Ends the wait for the stream; false if it is open already, or has failed to open. */
    boolean giveUp(IOException because) {
      boolean hasGivenUp =
          result.completeExceptionally(because) || result.isCompletedExceptionally();
      thread.interrupt();
      return hasGivenUp;
    }
  }

  /**
   * Opens and registers a stream.
   *
   * @throws IOException if the stream cannot be opened, if this was closed, or if the caller is
   *     interrupted; no stream stays open
   */
  public <S extends Closeable> S open(Opening<S> opening) throws IOException {
    Opener<S> opener = new Opener<>(opening);
    synchronized (this) {
      checkOpen();
      openers.add(opener);
    }
    try {
      opener.thread.start();
    } catch (Throwable failure) {
      opener.forget();
      throw failure;
    }
    return opener.await();
  }

  /**
   * Removes a stream without closing it, for a caller that finishes the stream by itself.
   *
   * @return whether it was registered; false if {@link #close} has closed it, or is about to
   */
  public synchronized boolean release(Closeable stream) {
    return open.remove(stream);
  }

  /** Closes one stream and removes it. A failure to close it is logged, not thrown. */
  public void close(Closeable stream) {
    if (release(stream)) {
      closeQuietly(stream);
    }
  }

  /**
   * Throws if this is closed.
   *
   * @throws IOException if it is
   */
  public synchronized void checkOpen() throws IOException {
    if (isClosed) {
      throw closed();
    }
  }

  /** Whether {@link #close} was called. */
  public synchronized boolean isClosed() {
    return isClosed;
  }

  /** How many streams are open. */
  public synchronized int count() {
    return open.size();
  }

  /** Closes all streams; later ones are refused. */
  @Override
  public void close() {
    List<Closeable> streams;
    List<Opener<?>> opening;
    synchronized (this) {
      isClosed = true;
      streams = List.copyOf(open);
      opening = List.copyOf(openers);
      open.clear();
      openers.clear();
    }
    List<Thread> threads = new ArrayList<>();
    for (Opener<?> opener : opening) {
      opener.giveUp(closed());
      threads.add(opener.thread);
    }
    for (Closeable stream : streams) {
      Thread closer = startClosing(stream, threads.size());
      if (closer != null) {
        threads.add(closer);
      }
    }
    await(threads);
  }

  /**
   * Returns the thread that closes a stream; null if no thread can be started; the stream is closed
   * then.
   */
  private static @Nullable Thread startClosing(Closeable stream, int number) {
    try {
      return Thread.ofPlatform()
          .daemon()
          .name("faster-stream-close-" + number)
          .start(() -> closeQuietly(stream));
    } catch (OutOfMemoryError noThread) {
      closeQuietly(stream);
      return null;
    }
  }

  private static void await(List<Thread> threads) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MOST_WAIT_MILLIS);
    boolean isInterrupted = false;
    int hanging = 0;
    for (Thread thread : threads) {
      long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      try {
        thread.join(Math.max(1, millis));
      } catch (InterruptedException e) {
        isInterrupted = true; // the flag is cleared: the next wait is a full one
      }
      hanging += thread.isAlive() ? 1 : 0;
    }
    if (hanging > 0) {
      LOG.warn(
          "streams of checkpoint storage hang while they open or close, their threads are"
              + " abandoned: streams={}, waitedMillis={}",
          hanging,
          MOST_WAIT_MILLIS);
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void closeQuietly(Closeable stream) {
    try {
      stream.close();
    } catch (IOException | RuntimeException failure) {
      LOG.debug("a stream of checkpoint storage failed to close: stream={}", stream, failure);
    }
  }

  private static IOException rethrown(@Nullable Throwable cause) {
    switch (cause) {
      case Error error -> throw error;
      case RuntimeException failure -> throw failure;
      case IOException failure -> {
        return failure;
      }
      case null, default -> {
        return new IOException(cause);
      }
    }
  }

  private static IOException closed() {
    return new IOException(
        "checkpoint storage is closed: the task was cancelled or its state"
            + " backend was closed");
  }
}
