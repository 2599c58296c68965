package io.fasterkv.inject;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * A thread of the workload. Each call of the store goes through {@link #call}, which records how
 * long the call takes and how it ends.
 */
final class Actor {
  /** The work of a thread. */
  interface Work {
    void run(Actor actor) throws Exception;
  }

  private final Trial trial;
  private final Thread thread;
  private volatile String calling = "";
  private volatile long since;
  private Throwable failure;

  Actor(Trial trial, String name, Work work) {
    this.trial = trial;
    thread = new Thread(() -> guard(work), "inject-" + name);
    thread.setDaemon(true);
  }

  private void guard(Work work) {
    try {
      work.run(this);
    } catch (Throwable e) {
      trial.fault("the workload failed: " + Stacks.of(e));
    }
  }

  void start() {
    thread.start();
  }

  /**
   * Makes one call; returns its result, or null if it failed. A failure must have an injected Error
   * as its cause.
   */
  <T> T call(String name, Callable<T> call) {
    failure = null;
    boolean isAfter = trial.hasThrown();
    calling = name;
    since = System.nanoTime();
    try {
      T result = call.call();
      if (isAfter) {
        trial.succeeded();
      }
      return result;
    } catch (Throwable e) {
      failure = e;
      if (Injector.isCauseOf(e)) {
        trial.failed();
      } else {
        trial.fault(name + " ended without the cause: " + Stacks.of(e));
      }
      return null;
    } finally {
      since = 0;
    }
  }

  /** Like {@link #call}, for calls that return nothing. */
  void run(String name, Runnable call) {
    call(
        name,
        () -> {
          call.run();
          return true;
        });
  }

  /** Whether the last call failed. */
  boolean hasFailed() {
    return failure != null;
  }

  /** The failure of the last call. */
  Throwable failure() {
    return failure;
  }

  /** Describes the current call if it takes longer than allowed; null if it does not. */
  String hangs(long boundMillis) {
    long begin = since;
    boolean isLong =
        begin != 0 && System.nanoTime() - begin > TimeUnit.MILLISECONDS.toNanos(boundMillis);
    return isLong ? calling : null;
  }

  /** The stack of the thread. */
  String stack() {
    StringBuilder text = new StringBuilder("the call:\n");
    for (StackTraceElement frame : thread.getStackTrace()) {
      text.append("    ").append(frame).append('\n');
    }
    return text.toString();
  }

  /** Waits for the thread for a limited time; returns whether it has ended. */
  boolean join() throws InterruptedException {
    thread.join(20);
    return !thread.isAlive();
  }
}
