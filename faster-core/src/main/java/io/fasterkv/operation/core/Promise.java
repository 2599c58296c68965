package io.fasterkv.operation.core;

import io.fasterkv.api.Status;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The result of a pending operation: set when it ends, and reported later without a lock. */
public final class Promise extends CompletableFuture<Status> implements Runnable {
  private Status status = Status.PENDING;
  private @Nullable Throwable failure;
  private long longOutput;

  /** Whether it is in the list of stages to be completed. */
  public boolean isListed;

  /** The one that ended after this one. */
  public @Nullable Promise next;

  public void end(Status ended, long output, @Nullable Throwable cause) {
    status = ended;
    longOutput = output;
    failure = cause;
  }

  /** Why the operation failed; null if it did not. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** The result of a read or an RMW of a {@code long}. */
  public long longOutput() {
    return longOutput;
  }

  /**
   * Completes the stage. This class is a task itself, so that it can be passed to a thread without
   * creating a lambda.
   */
  @Override
  public void run() {
    if (failure == null) {
      complete(status);
    } else {
      completeExceptionally(failure);
    }
  }
}
