package io.fasterkv.flink.snapshot;

import java.io.Closeable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Ends the work for a snapshot that is not wanted any more. A thread may hang in checkpoint storage
 * for ever, so the store must not wait for threads: each of them uses the store only within {@link
 * #inStore}, and {@link #awaitStoreUnused} waits for these calls alone. Safe for all threads.
 */
public final class Cancellation implements Closeable {
  /** Held for reading by threads that use the store. */
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
   * Does a part of the work that uses the store and no checkpoint storage.
   *
   * @throws CancellationException if it was cancelled before
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

  /** Cancels, and waits until no thread uses the store; none does after that. */
  void awaitStoreUnused() {
    close();
    store.writeLock().lock();
    store.writeLock().unlock();
  }
}
