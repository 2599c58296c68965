package io.fasterkv;

import io.fasterkv.api.StoreException.Closed;
import io.fasterkv.memory.StackReserve;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * Delays the closing of a store until work on the whole store has ended: checkpoints, exports,
 * compaction on request, truncation, and resizes of the index. Safe for all threads. Single
 * operations never use it.
 */
final class ClosingGate {
  private final String store;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  /** Working threads hold the read lock, the closing thread the write lock. */
  private final ReentrantReadWriteLock work = new ReentrantReadWriteLock();

  /**
   * @param store identifies the store in error messages
   */
  ClosingGate(String store) {
    this.store = store;
  }

  void requireOpen() {
    if (isClosed.get()) {
      throw new Closed("the store is closed: " + store);
    }
  }

  /**
   * Runs a task on the open store, and keeps the store open until the task ends.
   *
   * @throws StackOverflowError if the thread has too little stack left for such work; nothing has
   *     changed then
   */
  <T> T whileOpen(Supplier<T> task) {
    StackReserve.require();
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
   * Rejects new work; returns false if the gate was closed before.
   *
   * @throws IllegalStateException if the caller is inside such work; it would wait for itself
   */
  boolean close() {
    if (work.getReadHoldCount() > 0) {
      throw new IllegalStateException(
          "a store cannot be closed from within its own checkpoint or compaction: "
              + store
              + "; close it when that has returned");
    }
    return isClosed.compareAndSet(false, true);
  }

  /** Waits until all work that started before has ended. */
  void awaitWork() {
    work.writeLock().lock();
    work.writeLock().unlock();
  }
}
