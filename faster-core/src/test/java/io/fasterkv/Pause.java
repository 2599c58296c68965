package io.fasterkv;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Stops a thread inside a callback, so that a test can act in the middle of an operation. The
 * second call of the callback does not stop.
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

  /** Runs an operation on a thread of its own; returns when it has reached the pause. */
  public void start(Runnable operation) {
    thread = begin(operation);
    await(reached);
  }

  /** Lets the operation continue; returns when it has ended. */
  public void finish() {
    release();
    join(thread);
  }

  /** Lets the operation continue. */
  public void release() {
    released.countDown();
  }

  /** Whether the operation has ended. */
  public boolean hasEnded() {
    return !thread.isAlive();
  }

  /** Starts an operation that is expected to wait for the paused one. */
  public static Thread begin(Runnable operation) {
    return Thread.ofPlatform().daemon().start(operation);
  }

  /** Returns when {@code other} is waiting in the store, that is, has yielded its time slice. */
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

  /** Returns when a condition holds. */
  public static void until(BooleanSupplier condition) {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > until) {
        throw new AssertionError("the condition does not hold in time");
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

  /** Returns when the latch was counted down. */
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
