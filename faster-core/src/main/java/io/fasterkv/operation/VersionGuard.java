package io.fasterkv.operation;

import io.fasterkv.api.SessionIdentity;
import io.fasterkv.epoch.Phase;
import io.fasterkv.epoch.SystemState;
import io.fasterkv.index.BucketLatch;
import io.fasterkv.index.HashIndex;
import io.fasterkv.memory.StackReserve;
import io.fasterkv.operation.Operation.Kind;
import io.fasterkv.record.RecordInfo;
import org.jspecify.annotations.Nullable;

/**
 * Lets the attempts of one session be of a version each (CPR, section 6.2). An attempt is what
 * happens between protecting the epoch and leaving it: it looks at the store's state first, and is
 * of that version. An operation that comes again may be of the next version when it does, since
 * nothing of it has happened; one that is pending stays in the version in which it was accepted.
 *
 * <p>At rest, and while a version is being made durable, that is one load and one comparison. While
 * two versions are at work:
 *
 * <ul>
 *   <li>PREPARE: fine-grained, the attempt shares its bucket's latch, and then looks at the state
 *       again: if that has moved on, it comes again, and otherwise no attempt of the new version
 *       changes the bucket until it lets go. Coarse-grained, it has no latch, and comes again when
 *       it meets a record of the new version.
 *   <li>IN_PROGRESS: fine-grained, an update has its bucket's latch for itself. Coarse-grained, it
 *       waits for pending updates of the old version, which share the latch, and for records of the
 *       old version to become immutable.
 *   <li>WAIT_PENDING: an update waits for those pending ones only.
 * </ul>
 */
final class VersionGuard {
  private final StoreVersions versions;
  private final HashIndex index;
  private final ChainSteps.Stripe steps;
  private final @Nullable Handover<?, ?, ?> handover;
  private final Participant participant;

  private long seen = -1;
  private Phase phase = Phase.REST;
  private boolean isShifting;
  private long version;
  private long bits;
  private boolean hasEntered;

  /**
   * @param handover for pending updates; null if the session never has any
   */
  VersionGuard(
      Engine engine,
      @Nullable SessionIdentity identity,
      ChainSteps.Stripe steps,
      @Nullable Handover<?, ?, ?> handover) {
    versions = engine.versions();
    index = engine.index();
    this.steps = steps;
    this.handover = handover;
    participant = versions.join(identity, steps, handover);
  }

  Participant participant() {
    return participant;
  }

  /**
   * Decides which version an attempt is of, after its epoch was protected; {@link #end} follows.
   * False if it has to leave the epoch and come again.
   */
  boolean begin(Operation<?, ?, ?> op) {
    long word = versions.state().word();
    if (word != seen) {
      look(word);
    }
    if (!isShifting) {
      op.version.plain(bits);
      return true;
    }
    return beginShifting(op);
  }

  /**
   * Ends an attempt, before its epoch is left. Returns how it ended, or RETRY.
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
      steps.accepted();
    }
  }

  /** The session never started. */
  void withdraw() {
    versions.withdraw(participant);
  }

  /** The session ends. */
  void leave() {
    versions.leave(participant);
  }

  private void look(long word) {
    phase = SystemState.phase(word);
    isShifting = phase.isShifting();
    version = SystemState.version(word);
    bits = RecordInfo.versionBits(version);
    participant.cross(version);
    // Last: if something above fails for want of stack, the next attempt looks again. An operation
    // of the next version must not be accepted before the session has crossed to it.
    seen = word;
  }

  private boolean beginShifting(Operation<?, ?, ?> op) {
    // A latch or lock that is not released would stop the shift, and so all sessions.
    StackReserve.require();
    if (handover != null) {
      if (!handover.tryEnter()) {
        return false;
      }
      hasEntered = true;
    }
    boolean mayGoOn = false;
    try {
      mayGoOn = choose(op);
      return mayGoOn;
    } finally {
      if (!mayGoOn) {
        leaveHandover();
      }
    }
  }

  private boolean choose(Operation<?, ?, ?> op) {
    AttemptVersion attempt = op.version;
    long acceptedIn = attempt.acceptedIn();
    boolean isOldPending = acceptedIn != 0 && (phase == Phase.PREPARE || acceptedIn < version);
    if (isOldPending) {
      // It has its latch, or nothing of the new version begins before it has.
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

  /** Shares the latch of the operation's bucket, if the state is still the one that was seen. */
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
    if (handover != null && !op.version.isCounted()) {
      handover.accept();
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
      leaveHandover();
    }
  }

  private void leaveHandover() {
    if (hasEntered && handover != null) {
      handover.leave();
      hasEntered = false;
    }
  }
}
