package io.fasterkv.memory;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Starts and ends the store's own threads. If a thread cannot be started, other threads do its
 * work. All threads end before the memory that they use is freed.
 */
public final class OwnThread {
  private OwnThread() {}

  /**
   * Starts a thread if possible; otherwise other threads do its work.
   *
   * @param otherwise what happens instead, for the log
   * @param logger receives the failure
   */
  public static void tryStart(Thread thread, String otherwise, Logger logger) {
    try {
      thread.start();
    } catch (Throwable e) {
      logger.log(
          Level.WARNING,
          "a thread could not be started: thread=" + thread.getName() + "; " + otherwise,
          e);
    }
  }

  /**
   * Wakes a thread that was told to end, and waits until it has ended; an interrupt does not end
   * the wait.
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

  /**
   * Waits until threads that were told to end have ended, or until a deadline; an interrupt does
   * not end the wait. For threads that call storage that may hang: the memory they use stays safe
   * to touch.
   *
   * @param deadlineNanos by {@link System#nanoTime}
   * @param what the threads do, for the log
   * @param logger receives the names of threads that have not ended
   * @return whether all have ended
   */
  public static boolean awaitEnd(
      List<Thread> threads, long deadlineNanos, String what, Logger logger) {
    boolean isInterrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive() && System.nanoTime() < deadlineNanos) {
        try {
          thread.join(millisUntil(deadlineNanos));
        } catch (InterruptedException e) {
          isInterrupted = true;
        }
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
    List<String> alive = threads.stream().filter(Thread::isAlive).map(Thread::getName).toList();
    if (!alive.isEmpty()) {
      logger.log(Level.WARNING, what + " did not end in time and are abandoned: threads=" + alive);
    }
    return alive.isEmpty();
  }

  /** Like {@link #awaitEnd(List, long, String, Logger)}, for an executor that was shut down. */
  public static boolean awaitEnd(ExecutorService threads, long deadlineNanos) {
    boolean isInterrupted = false;
    boolean hasEnded = false;
    do {
      try {
        hasEnded = threads.awaitTermination(millisUntil(deadlineNanos), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    } while (!hasEnded && System.nanoTime() < deadlineNanos);
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
    return hasEnded;
  }

  private static long millisUntil(long deadlineNanos) {
    return Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime()));
  }
}
