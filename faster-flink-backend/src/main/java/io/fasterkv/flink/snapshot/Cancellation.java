package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.util.concurrent.CancellationException;
import org.apache.flink.util.function.ThrowingRunnable;
import org.jspecify.annotations.Nullable;

/**
 * Cancels the work for a snapshot. A thread may hang in checkpoint storage forever: in a write, or
 * in a read of a log that is still at its origin. So neither the store nor the thread that cancels
 * waits for threads. Each thread uses the store only within {@link #inStore}, and {@link
 * #releaseWhenUnused} leaves the release of the store to the last of these calls. Safe for all
 * threads.
 */
public final class Cancellation implements Closeable {
  private volatile boolean cancelled;

  // Guarded by this.
  private int users;
  private @Nullable Runnable release;

  /** Cancels. */
  @Override
  public void close() {
    cancelled = true;
  }

  /**
   * Returns if the work should continue.
   *
   * @throws CancellationException if it was cancelled or the thread was interrupted
   */
  public void check() {
    if (cancelled || Thread.currentThread().isInterrupted()) {
      throw new CancellationException("the snapshot was cancelled");
    }
  }

  /**
   * Runs a part of the work that uses the store but no checkpoint storage.
   *
   * @throws CancellationException if the work was cancelled before
   */
  <E extends Exception> void inStore(ThrowingRunnable<E> part) throws E {
    synchronized (this) {
      check();
      users++;
    }
    try {
      part.run();
    } finally {
      synchronized (this) {
        users--;
      }
      releaseIfUnused();
    }
  }

  /**
   * Cancels, and releases the store as soon as no thread uses it: now, or on the last thread that
   * uses it. No thread uses the store afterwards.
   */
  void releaseWhenUnused(Runnable releaseStore) {
    close();
    synchronized (this) {
      release = releaseStore;
    }
    releaseIfUnused();
  }

  private void releaseIfUnused() {
    Runnable now = null;
    synchronized (this) {
      if (users == 0) {
        now = release;
        release = null;
      }
    }
    if (now != null) {
      now.run();
    }
  }
}
