package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The open streams of checkpoint storage. Everything that reads or writes checkpoint storage opens
 * its streams here. {@link #close} closes them all, and every later {@link #open} is refused, so
 * that a thread that hangs in a read or a write ends before anything waits for it.
 *
 * <p>A separate thread opens each stream, and another closes it, since both may hang like a read.
 * {@link #close} ends the wait for an opening at once, and waits for the threads for {@value
 * #MOST_WAIT_MILLIS} ms at most. A stream whose opening returns after that is closed at once.
 *
 * <p>{@link #open} allocates everything first: the entry, and both threads. Registering a stream
 * and closing all of them then allocate nothing, so they work when the heap is full. Safe for all
 * threads.
 */
public final class OpenStreams implements Closeable {
  private static final long MOST_WAIT_MILLIS = 1_000;

  private final Logger logger;
  private final ThreadFactory threads;

  /** Streams that are open or being opened. The caller that removes an entry closes its stream. */
  private final List<Entry<?>> entries = new ArrayList<>();

  private boolean isClosed;

  /**
   * Creates an empty registry.
   *
   * @param logger receives streams that hang
   */
  public OpenStreams(Logger logger) {
    this(logger, Thread.ofPlatform().daemon().name("faster-stream-", 0).factory());
  }

  /** Creates a registry with other threads, for tests. */
  OpenStreams(Logger logger, ThreadFactory threads) {
    this.logger = logger;
    this.threads = threads;
  }

  /** Opens a stream; may block. */
  @FunctionalInterface
  public interface Opening<S extends Closeable> {
    S open() throws IOException;
  }

  /** A stream, and the threads that open and close it. */
  private final class Entry<S extends Closeable> {
    private final Opening<S> opening;
    private final Thread opener = threads.newThread(this::open);
    private final Thread closer = threads.newThread(this::closeStream);

    /** Released when the opening has ended, or when its stream is no longer wanted. */
    private final CountDownLatch end = new CountDownLatch(1);

    private @Nullable S stream;
    private @Nullable Throwable failure;
    private boolean isUnwanted;

    /** The next of the entries that {@link #close} has removed. */
    private @Nullable Entry<?> next;

    private boolean hasNoCloser;

    Entry(Opening<S> opening) {
      this.opening = opening;
    }

    private void open() {
      try {
        S opened = opening.open();
        if (!keep(opened)) {
          closeQuietly(opened);
        }
      } catch (Throwable e) {
        fail(e);
      }
    }

    /** Whether the stream is still wanted. */
    private boolean keep(S opened) {
      synchronized (OpenStreams.this) {
        if (isUnwanted) {
          return false;
        }
        stream = opened;
        end.countDown();
        return true;
      }
    }

    private void fail(Throwable cause) {
      synchronized (OpenStreams.this) {
        entries.remove(this);
        failure = cause;
        end.countDown();
      }
    }

    S await() throws IOException, InterruptedException {
      end.await();
      synchronized (OpenStreams.this) {
        if (failure != null) {
          throw rethrown(failure);
        }
        if (isUnwanted || stream == null) {
          throw closed();
        }
        return stream;
      }
    }

    /** Called when the caller of {@link OpenStreams#open} does not receive the stream. */
    void giveUp() {
      boolean isOwn;
      synchronized (OpenStreams.this) {
        isUnwanted = true;
        isOwn = entries.remove(this);
      }
      opener.interrupt();
      if (isOwn) {
        closeStream();
      }
    }

    /** Ends the opening, or starts to close the stream. */
    void beginClosing() {
      opener.interrupt();
      if (stream != null) {
        try {
          closer.start();
        } catch (Throwable noThread) {
          hasNoCloser = true;
        }
      }
    }

    void closeStream() {
      if (stream != null) {
        closeQuietly(stream);
      }
    }

    /** Waits for the threads; false if one of them hangs. */
    boolean awaitEnd(long deadline) throws InterruptedException {
      return joined(opener, deadline) && joined(closer, deadline);
    }

    private static boolean joined(Thread thread, long deadline) throws InterruptedException {
      long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      thread.join(Math.max(1, millis));
      return !thread.isAlive();
    }
  }

  /**
   * Opens and registers a stream.
   *
   * @throws IOException if the stream cannot be opened, if this was closed, or if the caller is
   *     interrupted; no stream stays open
   */
  public <S extends Closeable> S open(Opening<S> opening) throws IOException {
    Entry<S> entry = new Entry<>(opening);
    synchronized (this) {
      checkOpen();
      entries.add(entry);
    }
    boolean isOpen = false;
    try {
      entry.opener.start();
      S stream = entry.await();
      isOpen = true;
      return stream;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(
          "interrupted while a stream of checkpoint storage was opened");
    } finally {
      if (!isOpen) {
        entry.giveUp();
      }
    }
  }

  /**
   * Removes a stream without closing it, for a caller that finishes the stream by itself.
   *
   * @return whether it was registered; false if {@link #close} has closed it, or is about to
   */
  public synchronized boolean release(Closeable stream) {
    for (int i = 0; i < entries.size(); i++) {
      if (entries.get(i).stream == stream) {
        entries.remove(i);
        return true;
      }
    }
    return false;
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
   * @throws IOException if this is closed
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
    return (int) entries.stream().filter(entry -> entry.stream != null).count();
  }

  /** Closes all streams; later ones are refused. */
  @Override
  public void close() {
    Entry<?> first = removeAll();
    for (Entry<?> entry = first; entry != null; entry = entry.next) {
      entry.beginClosing();
    }
    int hanging = awaitEnds(first);
    // Closing these may hang, so all others are closed first.
    for (Entry<?> entry = first; entry != null; entry = entry.next) {
      if (entry.hasNoCloser) {
        entry.closeStream();
      }
    }
    if (hanging > 0) {
      logger.log(
          Level.WARNING,
          "streams of checkpoint storage hang while they open or close, and their threads are"
              + " abandoned: streams="
              + hanging
              + ", waitedMillis="
              + MOST_WAIT_MILLIS);
    }
  }

  /** Removes all entries and returns them as a linked list. */
  private synchronized @Nullable Entry<?> removeAll() {
    isClosed = true;
    Entry<?> first = null;
    while (!entries.isEmpty()) {
      Entry<?> entry = entries.removeLast();
      entry.next = first;
      first = entry;
      entry.isUnwanted = true;
      entry.end.countDown();
    }
    return first;
  }

  private static int awaitEnds(@Nullable Entry<?> first) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MOST_WAIT_MILLIS);
    boolean isInterrupted = false;
    int hanging = 0;
    for (Entry<?> entry = first; entry != null; entry = entry.next) {
      try {
        hanging += entry.awaitEnd(deadline) ? 0 : 1;
      } catch (InterruptedException e) {
        isInterrupted = true; // the flag is cleared, so the next wait is a full one
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
    return hanging;
  }

  private void closeQuietly(Closeable stream) {
    try {
      stream.close();
    } catch (Throwable failure) {
      // The heap may be full, so build the line only if it will be logged.
      if (logger.isLoggable(Level.DEBUG)) {
        String line = "a stream of checkpoint storage cannot be closed: stream=" + stream;
        logger.log(Level.DEBUG, line, failure);
      }
    }
  }

  private static IOException rethrown(Throwable cause) {
    switch (cause) {
      case Error error -> throw error;
      case RuntimeException failure -> throw failure;
      case IOException failure -> {
        return failure;
      }
      default -> {
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
