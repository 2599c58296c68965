package io.fasterkv.operation;

import java.util.concurrent.locks.LockSupport;

/** What a store's own threads have in common. */
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
