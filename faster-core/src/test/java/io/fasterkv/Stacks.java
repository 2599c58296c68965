package io.fasterkv;

import java.util.concurrent.atomic.AtomicReference;

/** Runs an operation near the end of its thread's stack, at every depth from which it overflows. */
public final class Stacks {
  /** Small, so that the end of the stack is near. */
  private static final long STACK_BYTES = 512 << 10;

  private static final int ENOUGH = 50;

  private static final long PATIENCE_MILLIS = 120_000;

  private Stacks() {}

  /**
   * Runs an operation at decreasing stack depths until it has succeeded some times; returns how
   * often it overflowed. Then runs {@code after}, on the same thread.
   */
  public static int overflow(Runnable operation, Runnable after) {
    int[] overflows = new int[1];
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Runnable body =
        () -> {
          try {
            descend(operation, overflows);
            after.run();
          } catch (Throwable e) {
            failure.set(e);
          }
        };
    Thread thread = new Thread(null, body, "end of the stack", STACK_BYTES);
    thread.setDaemon(true);
    thread.start();
    try {
      thread.join(PATIENCE_MILLIS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    if (thread.isAlive()) {
      AssertionError hang = new AssertionError("it hangs");
      hang.setStackTrace(thread.getStackTrace());
      throw hang;
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
    return overflows[0];
  }

  /** Recurses to the end of the stack and, while returning, tries the operation in each frame. */
  @SuppressWarnings("InfiniteRecursion") // It ends with a StackOverflowError.
  private static int descend(Runnable operation, int[] overflows) {
    int successes = 0;
    try {
      successes = descend(operation, overflows);
    } catch (StackOverflowError e) {
      successes = 0;
    }
    if (successes >= ENOUGH) {
      return successes;
    }
    try {
      operation.run();
      return successes + 1;
    } catch (StackOverflowError e) {
      overflows[0]++;
      return 0;
    }
  }
}
