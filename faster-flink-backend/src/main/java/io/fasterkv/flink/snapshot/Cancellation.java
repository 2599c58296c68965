package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Cancels the work for a snapshot. A thread may hang in checkpoint storage forever, so the store
 * must not wait for threads. Each thread uses the store only within {@link #inStore}, and {@link
 * #awaitStoreUnused} waits only for these calls. Safe for all threads.
 */
public final class Cancellation implements Closeable {
  /** Threads that use the store hold the read lock. */
  private final ReadWriteLock store = new ReentrantReadWriteLock();

  private volatile boolean cancelled;

  /** Cancels. */
  @Override
  public void close() {
    cancelled = true;
  }

  /**
   * Returns if the work should go on.
   *
   * @throws CancellationException if it was cancelled, or if the thread was interrupted
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
    Lock use = store.readLock();
    use.lock();
    try {
      check();
      part.run();
    } finally {
      use.unlock();
    }
  }

  /** Cancels, and waits until no thread uses the store; none will use it afterwards. */
  void awaitStoreUnused() {
    close();
    store.writeLock().lock();
    store.writeLock().unlock();
  }
}
