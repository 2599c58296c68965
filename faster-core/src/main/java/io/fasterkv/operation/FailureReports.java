package io.fasterkv.operation;

import io.fasterkv.api.StoreException.OperationFailed;
import io.fasterkv.api.StoreException.OutOfBudget;
import io.fasterkv.operation.Operation.Kind;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What one session's user is still to be told: which of its pending operations have failed, and
 * what its completion callback has thrown. The user is told one at a time, so that what the user
 * does next belongs to that one. One thread at a time.
 */
final class FailureReports {
  /** A session with so many does not begin operations that may fail later. */
  static final int MOST = 1024;

  private final Participant participant;
  private final Deque<Throwable> reports = new ArrayDeque<>();

  FailureReports(Participant participant) {
    this.participant = participant;
  }

  /**
   * Makes sure that the failures of operations that may become pending find room.
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
    participant.failures().reserve(pending);
  }

  /**
   * A pending operation did not take effect; returns what its user is told. On a full heap that is
   * the cause alone, and the operation stays excluded.
   */
  Throwable failed(Operation<?, ?, ?> op, Throwable cause) {
    if (op.kind == Kind.RMW && !op.version.isHandedOver()) {
      participant.failures().add(op.serial);
    }
    try {
      return new OperationFailed(op.serial, op.keyCopy(), op.context, cause);
    } catch (OutOfMemoryError e) {
      return cause;
    }
  }

  /** The user is to be told by a later call. */
  void later(Throwable report) {
    reports.addLast(report);
  }

  /** The user is told now. */
  void reported(@Nullable Throwable report) {
    if (report instanceof OperationFailed failure) {
      participant.reported(failure.serial());
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

  /** Takes all reports: the first has the others as suppressed ones. */
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

  /** Throws what is a RuntimeException or an Error. */
  static void rethrow(Throwable report) {
    switch (report) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new AssertionError(report);
    }
  }
}
