package io.fasterkv.operation.session;

import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Request.Kind;
import io.fasterkv.operation.core.ValueAccess;
import io.fasterkv.operation.version.SessionCounters;
import org.jspecify.annotations.Nullable;

/** Handles the end of one session's operations: counts it, and reports it to the caller. */
final class OperationEnds<I, O, C> {
  private final ValueAccess<I, O, C> values;
  private final RetryLoop<I, O, C> retryLoop;
  private final SessionCounters.Stripe counters;
  private final FailureReports reports;
  private final @Nullable Arrivals arrivals;

  /**
   * @param arrivals notified when pending operations end; null if the completion callback is
   */
  OperationEnds(
      ValueAccess<I, O, C> values,
      RetryLoop<I, O, C> retryLoop,
      SessionCounters.Stripe counters,
      FailureReports reports,
      @Nullable Arrivals arrivals) {
    this.values = values;
    this.retryLoop = retryLoop;
    this.counters = counters;
    this.reports = reports;
    this.arrivals = arrivals;
  }

  /**
   * Counts the region in which an operation has found its key, and the effect of its end on the
   * live bytes.
   */
  void count(Operation<I, O, C> op) {
    counters.found(op.region);
    switch (op.status) {
      case CREATED -> counters.created(op.madeBytes);
      case COPIED -> counters.replaced(op.madeBytes, op.endedBytes);
      case FOUND -> {
        if (op.kind == Kind.DELETE || op.endedBytes != SessionCounters.UNKNOWN_BYTES) {
          counters.ended(op.endedBytes);
        }
      }
      default -> {}
    }
  }

  /**
   * Handles an operation that took effect; an exception of its completion callback is reported
   * later.
   */
  void ended(Operation<I, O, C> op) {
    if (!op.version.isHandedOver()) {
      count(op);
    }
    if (arrivals != null && op.promise != null) {
      op.promise.end(op.status, op.longOutput, null);
      arrivals.ended(op.promise);
      return;
    }
    try {
      retryLoop.alone(() -> {
        values.completed(op);
        return op;
      });
    } catch (RuntimeException | Error e) {
      reports.later(e);
    }
  }

  /** Handles an operation that did not take effect. */
  void failed(Operation<I, O, C> op, Throwable cause) {
    if (op.promise != null && op.promise.isListed) {
      // It has taken effect; what failed came after that.
      return;
    }
    Throwable failure = reports.failed(op, cause);
    if (arrivals == null || op.promise == null) {
      reports.later(failure);
    } else {
      op.promise.end(op.status, op.longOutput, failure);
      arrivals.ended(op.promise);
    }
  }
}
