package io.fasterkv.operation.session;

import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Request.Kind;
import io.fasterkv.operation.version.SessionVersion;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The failures that a session has not reported to its user yet: those of pending operations, and
 * exceptions of its completion callback. It reports one at a time, so that the user's next
 * operation relates to that failure. One thread at a time.
 */
final class FailureReports {
  /** A session with this many failures begins no operation that may become pending. */
  static final int MOST = 1024;

  private final SessionVersion sessionVersion;
  private final Deque<Throwable> reports = new ArrayDeque<>();

  FailureReports(SessionVersion sessionVersion) {
    this.sessionVersion = sessionVersion;
  }

  /**
   * Makes sure that there is room for the failures of operations that may become pending.
   *
   * @param pending how many there may be
   */
  void reserve(int pending) {
    if (reports.size() >= MOST) {
      throw new OutOfBudget(
          "a session has too many unreported failures: failures="
              + reports.size()
              + ", allowed="
              + MOST
              + "; call completePending until it throws no more");
    }
    sessionVersion.failures().reserve(pending);
  }

  /**
   * Adds a pending operation that did not take effect; returns the exception for its user. If the
   * heap is full, that is only the cause, and the operation stays excluded.
   */
  Throwable failed(Operation<?, ?, ?> op, Throwable cause) {
    if (op.kind == Kind.RMW && !op.version.isHandedOver()) {
      sessionVersion.failures().add(op.serial);
    }
    try {
      return new OperationFailed(op.serial, op.keyCopy(), op.context, cause);
    } catch (OutOfMemoryError e) {
      return cause;
    }
  }

  /** Leaves the report to a later call. */
  void later(Throwable report) {
    reports.addLast(report);
  }

  /** Marks the failure as reported now. */
  void reported(@Nullable Throwable report) {
    if (report instanceof OperationFailed failure) {
      sessionVersion.reported(failure.serial());
    }
  }

  /** Throws the next report, if there is one. */
  void throwNext() {
    Throwable next = reports.pollFirst();
    if (next != null) {
      reported(next);
      rethrow(next);
    }
  }

  /** Removes all reports and returns the first, with the others suppressed. */
  @Nullable Throwable takeAll() {
    Throwable first = reports.peekFirst();
    for (Throwable report : reports) {
      reported(report);
      if (report != first && first != null) {
        first.addSuppressed(report);
      }
    }
    reports.clear();
    return first;
  }

  /** Throws a RuntimeException or an Error. */
  static void rethrow(Throwable report) {
    switch (report) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new AssertionError(report);
    }
  }
}
