package io.fasterkv.operation;

import io.fasterkv.api.Status;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The end of a pending operation: known first, told later, when no lock is held. */
final class Promise extends CompletableFuture<Status> {
  private Status status = Status.PENDING;
  private @Nullable Throwable failure;
  private long longOutput;

  /** Whether it is among those whose stages are going to be completed. */
  boolean isListed;

  /** The one that ended after this. */
  @Nullable Promise next;

  void end(Operation<?, ?, ?> op, @Nullable Throwable cause) {
    status = op.status;
    longOutput = op.longOutput;
    failure = cause;
  }

  /** Why the operation failed; null if it did not. */
  @Nullable Throwable failure() {
    return failure;
  }

  /** What a read of a {@code long} found. */
  long longOutput() {
    return longOutput;
  }

  /** Tells those who wait. */
  void tell() {
    if (failure == null) {
      complete(status);
    } else {
      completeExceptionally(failure);
    }
  }
}
