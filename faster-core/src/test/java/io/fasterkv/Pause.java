package io.fasterkv;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Stops a thread inside a callback, so that a test can do something in the middle of an operation.
 * The callback runs on through the pause the second time it comes by.
 */
public final class Pause {
  private static final long PATIENCE_SECONDS = 60;

  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private Thread thread;

  /** Called in the callback. */
  public void here() {
    reached.countDown();
    await(released);
  }

  /** Runs an operation on a thread of its own; returns when it stands in the pause. */
  public void start(Runnable operation) {
    thread = begin(operation);
    await(reached);
  }

  /** Lets the operation go on; returns when it has ended. */
  public void finish() {
    letGo();
    join(thread);
  }

  /** Lets the operation go on. */
  public void letGo() {
    released.countDown();
  }

  /** Whether the operation has ended. */
  public boolean hasEnded() {
    return !thread.isAlive();
  }

  /** Starts something that is expected to wait for the one in the pause. */
  public static Thread begin(Runnable operation) {
    return Thread.ofPlatform().daemon().start(operation);
  }

  /** Returns when {@code other} has come to wait in the store: it has given up its time slice. */
  public static void awaitWaiting(Thread other) {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (other.getState() != Thread.State.TIMED_WAITING) {
      if (!other.isAlive()) {
        throw new AssertionError("it did not wait");
      }
      if (System.nanoTime() > until) {
        throw new AssertionError("it neither waits nor ends: " + other.getState());
      }
      Thread.onSpinWait();
    }
  }

  public static void join(Thread thread) {
    try {
      thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    if (thread.isAlive()) {
      AssertionError hang = new AssertionError("it hangs");
      hang.setStackTrace(thread.getStackTrace());
      throw hang;
    }
  }

  /** Returns when somebody has counted down. */
  public static void await(CountDownLatch latch) {
    try {
      if (!latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("nobody came");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
