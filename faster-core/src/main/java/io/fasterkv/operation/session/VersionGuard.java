package io.fasterkv.operation.session;

import io.fasterkv.api.session.SessionIdentity;
import io.fasterkv.index.BucketLatch;
import io.fasterkv.index.HashIndex;
import io.fasterkv.memory.StackReserve;
import io.fasterkv.operation.core.Engine;
import io.fasterkv.operation.core.Operation;
import io.fasterkv.operation.core.Request.Kind;
import io.fasterkv.operation.core.Step;
import io.fasterkv.operation.version.AttemptVersion;
import io.fasterkv.operation.version.SessionCounters;
import io.fasterkv.operation.version.SessionVersion;
import io.fasterkv.operation.version.StoreVersions;
import io.fasterkv.record.RecordInfo;
import io.fasterkv.state.Phase;
import io.fasterkv.state.SystemState;
import org.jspecify.annotations.Nullable;

/**
 * Assigns each attempt of one session to a version (CPR, section 6.2). An attempt lasts from
 * protecting the epoch to leaving it: it first reads the store's state and belongs to that version.
 * An operation that retries may then belong to the next version, since nothing of it has happened;
 * a pending one stays in the version in which it was accepted.
 *
 * <p>At rest, and while a version is being made durable, that is one load and one comparison.
 * During a version shift:
 *
 * <ul>
 *   <li>PREPARE: fine-grained, the attempt shares its bucket's latch and then reads the state
 *       again: if that has changed it retries; otherwise no attempt of the new version changes the
 *       bucket until it releases the latch. Coarse-grained, it takes no latch, and retries if it
 *       meets a record of the new version.
 *   <li>IN_PROGRESS: fine-grained, an update holds its bucket's latch exclusively. Coarse-grained,
 *       it waits for pending updates of the old version, which share the latch, and for records of
 *       the old version to become immutable.
 *   <li>WAIT_PENDING: an update waits only for those pending ones.
 * </ul>
 */
final class VersionGuard {
  private final StoreVersions versions;
  private final HashIndex index;
  private final SessionCounters.Stripe counters;
  private final @Nullable PendingUpdates<?, ?, ?> pendingUpdates;
  private final SessionVersion sessionVersion;

  private long seen = -1;
  private Phase phase = Phase.REST;
  private boolean isShifting;
  private long version;
  private long bits;
  private boolean hasEntered;

  /**
   * @param pendingUpdates holds pending updates; null if the session never has any
   */
  VersionGuard(
      Engine engine,
      @Nullable SessionIdentity identity,
      SessionCounters.Stripe counters,
      @Nullable PendingUpdates<?, ?, ?> pendingUpdates) {
    versions = engine.versions();
    index = engine.index();
    this.counters = counters;
    this.pendingUpdates = pendingUpdates;
    sessionVersion = versions.join(identity, counters, pendingUpdates);
  }

  SessionVersion sessionVersion() {
    return sessionVersion;
  }

  /**
   * Assigns an attempt to a version after its epoch was protected; {@link #end} must follow.
   * Returns false if it must leave the epoch and retry.
   */
  boolean begin(Operation<?, ?, ?> op) {
    long word = versions.state().word();
    if (word != seen) {
      observe(word);
    }
    if (!isShifting) {
      op.version.plain(bits);
      return true;
    }
    return beginShifting(op);
  }

  /**
   * Ends an attempt before its epoch is left. Returns its result, or RETRY.
   *
   * @param becomesPending whether the operation becomes pending if the step says that it waits
   */
  Step end(Operation<?, ?, ?> op, Step step, boolean becomesPending) {
    try {
      Step ended = step;
      boolean isPending = becomesPending && (step == Step.READ_DISK || step == Step.WAIT);
      if (isPending && op.kind == Kind.RMW && op.version.acceptedIn() == 0) {
        ended = accept(op) ? step : Step.RETRY;
      }
      if (ended == Step.DONE || (isPending && ended == step)) {
        count(op);
      }
      return ended;
    } finally {
      if (isShifting) {
        endShifting(op);
      }
    }
  }

  /** Gives an operation its serial number, unless it has one. */
  void count(Operation<?, ?, ?> op) {
    if (!op.version.isCounted()) {
      op.version.counted();
      counters.accepted();
    }
  }

  /** Called for a session that never started. */
  void withdraw() {
    versions.withdraw(sessionVersion);
  }

  /** Called when the session ends. */
  void leave() {
    versions.leave(sessionVersion);
  }

  private void observe(long word) {
    phase = SystemState.phase(word);
    isShifting = phase.isShifting();
    version = SystemState.version(word);
    bits = RecordInfo.versionBits(version);
    sessionVersion.cross(version);
    // Set last: if something above fails for lack of stack, the next attempt reads the state again.
    // An operation of the next version must not be accepted before the session has crossed to it.
    seen = word;
  }

  private boolean beginShifting(Operation<?, ?, ?> op) {
    // A latch or lock that is not released would stop the shift, and so all sessions.
    StackReserve.require();
    if (pendingUpdates != null) {
      if (!pendingUpdates.tryEnter()) {
        return false;
      }
      hasEntered = true;
    }
    boolean mayProceed = false;
    try {
      mayProceed = choose(op);
      return mayProceed;
    } finally {
      if (!mayProceed) {
        leavePendingUpdates();
      }
    }
  }

  private boolean choose(Operation<?, ?, ?> op) {
    AttemptVersion attempt = op.version;
    long acceptedIn = attempt.acceptedIn();
    boolean isOldPending = acceptedIn != 0 && (phase == Phase.PREPARE || acceptedIn < version);
    if (isOldPending) {
      // It has its latch; if not, no attempt of the new version begins before it has.
      attempt.plain(RecordInfo.versionBits(acceptedIn));
      return true;
    }
    long start = versions.start();
    boolean isRead = op.kind == Kind.READ;
    boolean isFine = versions.isFine();
    if (phase == Phase.PREPARE) {
      if (!isFine) {
        attempt.old(bits, start, RecordInfo.versionBits(version + 1));
        return true;
      }
      attempt.plain(bits);
      return share(op);
    }
    BucketLatch latch = index.latch(op.hash);
    boolean isAlone = isFine || phase == Phase.WAIT_PENDING;
    attempt.fresh(bits, start, isAlone);
    if (isRead) {
      return true;
    }
    if (isFine && phase == Phase.IN_PROGRESS) {
      if (!latch.tryExclude()) {
        return false;
      }
      attempt.latched(latch, true);
      return true;
    }
    return !latch.isShared();
  }

  /** Shares the latch of the operation's bucket if the state has not changed since it was read. */
  private boolean share(Operation<?, ?, ?> op) {
    BucketLatch latch = index.latch(op.hash);
    if (!latch.tryShare()) {
      return false;
    }
    if (versions.state().word() != seen) {
      latch.endShare();
      return false;
    }
    op.version.latched(latch, false);
    return true;
  }

  private boolean accept(Operation<?, ?, ?> op) {
    StackReserve.require();
    if (phase == Phase.PREPARE && !op.version.isLatched() && !share(op)) {
      return false;
    }
    op.version.accepted(version);
    if (pendingUpdates != null && !op.version.isCounted()) {
      pendingUpdates.accept();
    }
    return true;
  }

  private void endShifting(Operation<?, ?, ?> op) {
    try {
      boolean keepsLatch = op.version.acceptedIn() != 0 && phase == Phase.PREPARE;
      boolean isOldPending = op.version.acceptedIn() != 0 && op.version.acceptedIn() < version;
      if (!keepsLatch && !isOldPending) {
        op.version.unlatch();
      }
    } finally {
      leavePendingUpdates();
    }
  }

  private void leavePendingUpdates() {
    if (hasEntered && pendingUpdates != null) {
      pendingUpdates.leave();
      hasEntered = false;
    }
  }
}
