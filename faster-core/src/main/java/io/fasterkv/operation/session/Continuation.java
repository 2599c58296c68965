package io.fasterkv.operation.session;

import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Operation.Phase;
import io.fasterkv.operation.core.Request.Kind;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.search.DiskSearch;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Starts the pending operations of a session and continues them when their records have arrived or
 * scratch memory may be free. One thread at a time.
 */
final class Continuation<I, O, C> {
  static final long SCRATCH_PAUSE_NANOS = 1_000_000;

  private final PendingOperations<I, O, C> pending;

  /** Holds pending updates; null for a session that never has any. */
  private final @Nullable PendingUpdates<I, O, C> pendingUpdates;

  private final VersionGuard guard;
  private final RetryLoop<I, O, C> retryLoop;
  private final DiskSearch disk;
  private final OperationEnds<I, O, C> ends;

  Continuation(
      PendingOperations<I, O, C> pending,
      @Nullable PendingUpdates<I, O, C> pendingUpdates,
      VersionGuard guard,
      RetryLoop<I, O, C> retryLoop,
      DiskSearch disk,
      OperationEnds<I, O, C> ends) {
    this.pending = pending;
    this.pendingUpdates = pendingUpdates;
    this.guard = guard;
    this.retryLoop = retryLoop;
    this.disk = disk;
    this.ends = ends;
  }

  /** Starts the first read of a pending operation, or lets it wait for scratch memory. */
  void start(Operation<I, O, C> op, Step step) {
    try {
      if (step == Step.READ_DISK) {
        pending.start(op);
      } else {
        pending.later(op);
      }
    } catch (RuntimeException | Error e) {
      if (!retries(op)) {
        ends.failed(op, e);
        unlist(op);
        pending.end(op);
      }
    }
  }

  /** Called when a pending update has ended. */
  private void unlist(Operation<I, O, C> op) {
    if (pendingUpdates != null && op.kind == Kind.RMW && pendingUpdates.ended(op)) {
      guard.sessionVersion().keep(null);
    }
  }

  /**
   * Continues a pending operation after a read; it ends, or another read starts. Its failure is
   * reported later.
   */
  void resume(Operation<I, O, C> op) {
    boolean isUnderWay = false;
    try {
      if (pendingUpdates != null) {
        pendingUpdates.take(op);
      }
      isUnderWay = isUnderWay(op, nextStep(op));
      if (!isUnderWay) {
        ends.ended(op);
      }
    } catch (RuntimeException | Error e) {
      isUnderWay = retries(op);
      if (isUnderWay) {
        LockSupport.parkNanos(SCRATCH_PAUSE_NANOS);
      } else {
        ends.failed(op, e);
      }
    } finally {
      if (!isUnderWay) {
        try {
          unlist(op);
        } finally {
          pending.end(op);
        }
      } else if (pendingUpdates != null) {
        pendingUpdates.put(op);
      }
    }
  }

  private boolean isUnderWay(Operation<I, O, C> op, Step step) {
    switch (step) {
      case READ_DISK -> pending.read(op);
      case WAIT -> {
        LockSupport.parkNanos(SCRATCH_PAUSE_NANOS);
        pending.later(op);
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether an operation failed because it found no buffer, and other pending operations will free
   * one.
   */
  private boolean retries(Operation<I, O, C> op) {
    boolean isForBuffer =
        !op.version.isHandedOver() && pending.isOther(op) && op.retriesForBuffer();
    if (isForBuffer) {
      op.phase = Phase.WAITING;
      pending.later(op);
    }
    return isForBuffer;
  }

  /** Continues with what has arrived. A step that reads the disk has its place set. */
  private Step nextStep(Operation<I, O, C> op) {
    if (op.version.isHandedOver()) {
      RuntimeException failure = op.version.failure();
      if (failure != null) {
        throw failure;
      }
      return Step.DONE;
    }
    Step step =
        switch (op.phase) {
          case CHUNKS -> retryLoop.arrived(op);
          case WAITING -> {
            op.phase = Phase.SEARCH;
            yield Step.RETRY;
          }
          default -> disk.examine(op) ? Step.RETRY : Step.READ_DISK;
        };
    if (step == Step.RETRY) {
      step = retryLoop.advance(op);
      if (step == Step.READ_DISK) {
        disk.aim(op);
      }
    }
    return step;
  }
}
