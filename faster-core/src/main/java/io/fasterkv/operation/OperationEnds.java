package io.fasterkv.operation;

import io.fasterkv.operation.Operation.Kind;
import org.jspecify.annotations.Nullable;

/** Handles the end of one session's operations: counts it, and reports it to the caller. */
final class OperationEnds<I, O, C> {
  private final ValueAccess<I, O, C> values;
  private final Attempts<I, O, C> attempts;
  private final ChainSteps.Stripe steps;
  private final FailureReports reports;
  private final @Nullable Arrivals arrivals;

  /**
   * @param arrivals is notified when pending operations end; null if the completion callback is
   */
  OperationEnds(
      ValueAccess<I, O, C> values,
      Attempts<I, O, C> attempts,
      ChainSteps.Stripe steps,
      FailureReports reports,
      @Nullable Arrivals arrivals) {
    this.values = values;
    this.attempts = attempts;
    this.steps = steps;
    this.reports = reports;
    this.arrivals = arrivals;
  }

  /** Records where an operation has found its key, and what its end means for the live bytes. */
  void count(Operation<I, O, C> op) {
    steps.found(op.region);
    switch (op.status) {
      case CREATED -> steps.created(op.madeBytes);
      case COPIED -> steps.replaced(op.madeBytes, op.endedBytes);
      case FOUND -> {
        if (op.kind == Kind.DELETE || op.endedBytes != Operation.UNKNOWN_BYTES) {
          steps.ended(op.endedBytes);
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
      op.promise.end(op, null);
      arrivals.ended(op.promise);
      return;
    }
    try {
      attempts.alone(() -> {
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
      // It has taken effect: what failed came after that.
      return;
    }
    Throwable failure = reports.failed(op, cause);
    if (arrivals == null || op.promise == null) {
      reports.later(failure);
    } else {
      op.promise.end(op, failure);
      arrivals.ended(op.promise);
    }
  }
}
