package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The streams of checkpoint storage that are open now. Everything that reads or writes checkpoint
 * storage opens its streams here. {@link #close} closes them all, and every later {@link #open} is
 * refused, so that a thread that hangs in a read or a write ends before anything waits for it.
 *
 * <p>Each stream is closed by a thread of its own, since a close may hang as a read does. {@link
 * #close} waits for these threads for {@value #MOST_WAIT_MILLIS} ms at most. A stream whose opening
 * returns after {@link #close} is closed at once. Safe for all threads.
 */
public final class OpenStreams implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenStreams.class);
  private static final long MOST_WAIT_MILLIS = 1_000;

  private final Set<Closeable> open = Collections.newSetFromMap(new IdentityHashMap<>());
  private boolean isClosed;

  /** Opens a stream; it may block. */
  @FunctionalInterface
  public interface Opening<S extends Closeable> {
    S open() throws IOException;
  }

  /**
   * Opens and registers a stream.
   *
   * @throws IOException if the stream cannot be opened, or if this is closed by then; no stream is
   *     left open
   */
  public <S extends Closeable> S open(Opening<S> opening) throws IOException {
    checkOpen();
    S stream = opening.open();
    synchronized (this) {
      if (!isClosed) {
        open.add(stream);
        return stream;
      }
    }
    closeQuietly(stream);
    throw closed();
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
   * Refuses if this is closed.
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
    synchronized (this) {
      isClosed = true;
      streams = List.copyOf(open);
      open.clear();
    }
    List<Thread> closers = new ArrayList<>();
    for (Closeable stream : streams) {
      closers.add(
          Thread.ofPlatform()
              .daemon()
              .name("faster-stream-close-" + closers.size())
              .start(() -> closeQuietly(stream)));
    }
    await(closers);
  }

  private static void await(List<Thread> closers) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MOST_WAIT_MILLIS);
    boolean isInterrupted = false;
    int hanging = 0;
    for (Thread closer : closers) {
      long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      try {
        closer.join(Math.max(1, millis));
      } catch (InterruptedException e) {
        isInterrupted = true; // the flag is cleared: the next wait is a full one
      }
      hanging += closer.isAlive() ? 1 : 0;
    }
    if (hanging > 0) {
      LOG.warn(
          "streams of checkpoint storage do not close, they are left to their threads: streams={},"
              + " waitedMillis={}",
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

  private static IOException closed() {
    return new IOException(
        "checkpoint storage is not read or written any more: the task was cancelled or its state"
            + " backend was closed");
  }
}
