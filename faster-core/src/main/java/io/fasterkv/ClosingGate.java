package io.fasterkv;

import io.fasterkv.api.StoreException.Closed;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * Lets a store close when the work that is done on it as a whole has ended: checkpoints, exports,
 * compaction by the caller, truncation, resizes of the index. Safe for all threads; never on the
 * way of an operation.
 */
final class ClosingGate {
  private final String store;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  /** Shared by who works, alone for who closes. */
  private final ReentrantReadWriteLock work = new ReentrantReadWriteLock();

  /**
   * @param store names it for an error message
   */
  ClosingGate(String store) {
    this.store = store;
  }

  void requireOpen() {
    if (isClosed.get()) {
      throw new Closed("the store is closed: " + store);
    }
  }

  /** Does something on the open store, which stays open for as long as that takes. */
  <T> T whileOpen(Supplier<T> task) {
    requireOpen();
    work.readLock().lock();
    try {
      requireOpen();
      return task.get();
    } finally {
      work.readLock().unlock();
    }
  }

  /**
   * Turns away who comes from now on; false if it was closed before.
   *
   * @throws IllegalStateException if the caller is within such work, which would wait for itself
   */
  boolean close() {
    if (work.getReadHoldCount() > 0) {
      throw new IllegalStateException(
          "a store cannot be closed by what a checkpoint or a compaction of it has called: "
              + store
              + "; close it when that has returned");
    }
    return isClosed.compareAndSet(false, true);
  }

  /** Waits until those have ended that came before. */
  void awaitWork() {
    work.writeLock().lock();
    work.writeLock().unlock();
  }
}
