package io.fasterkv.memory;

import java.util.concurrent.locks.LockSupport;

/** How a store's own threads end: before the memory that they use is given back. */
public final class OwnThread {
  private OwnThread() {}

  /**
   * Wakes a thread that was told to end, and waits until it has; an interrupt does not end that.
   */
  public static void awaitEnd(Thread thread) {
    LockSupport.unpark(thread);
    boolean isInterrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
