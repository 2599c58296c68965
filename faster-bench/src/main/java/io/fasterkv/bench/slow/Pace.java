package io.fasterkv.bench.slow;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Limits one stream to its bandwidth. After a pause, a stream may move as much at once as a
 * connection's buffers hold. Used by one thread, closed by any.
 */
final class Pace {
  /** Bytes move in parts of this size, so that a closed stream ends soon. */
  static final int PART_BYTES = 64 << 10;

  private static final long BUFFERED_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long OPEN_NANOS = TimeUnit.MILLISECONDS.toNanos(SlowFileSystem.OPEN_MILLIS);

  /** Shorter waits are too inaccurate. */
  private static final long LEAST_WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

  private long due = System.nanoTime();
  private volatile boolean closed;

  /** Opens a stream: waits for the connection. */
  static Pace opened() throws IOException {
    Pace pace = new Pace();
    pace.reconnect();
    return pace;
  }

  /** Waits for a new connection. */
  void reconnect() throws IOException {
    due = System.nanoTime() + OPEN_NANOS;
    await(0);
  }

  /** Waits until the given number of bytes has moved. */
  void moved(long bytes) throws IOException {
    due = Math.max(due, System.nanoTime() - BUFFERED_NANOS) + nanos(bytes);
    await(LEAST_WAIT_NANOS);
  }

  /** Skips bytes, or reconnects if that takes less time. */
  void skipped(long bytes) throws IOException {
    if (bytes < 0 || nanos(bytes) > OPEN_NANOS) {
      reconnect();
    } else {
      moved(bytes);
    }
  }

  /** Ends the wait of the thread that uses the stream. */
  void close() {
    closed = true;
  }

  private static long nanos(long bytes) {
    return bytes * TimeUnit.SECONDS.toNanos(1) / SlowFileSystem.BYTES_PER_SECOND;
  }

  private void await(long leastNanos) throws IOException {
    long wait = due - System.nanoTime();
    while (wait > leastNanos) {
      if (closed) {
        throw new IOException("the stream is closed");
      }
      LockSupport.parkNanos(Math.min(wait, OPEN_NANOS));
      if (Thread.interrupted()) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while bytes were moved");
      }
      wait = due - System.nanoTime();
    }
  }
}
