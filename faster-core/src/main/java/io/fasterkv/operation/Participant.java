package io.fasterkv.operation;

import io.fasterkv.api.CommitPoint;
import org.jspecify.annotations.Nullable;

/**
 * One session's part in the shifts from one version of the store to the next: how many operations
 * it has accepted, which of them failed, and how many of them are of the version before. Refers to
 * the session only while that has updates pending, which a shift may have to end.
 */
final class Participant {
  private final @Nullable String name;
  private final ChainSteps.Stripe steps;
  private final @Nullable Handover<?, ?, ?> handover;

  /** What to add to the operations that the stripe has counted. */
  private final long offset;

  /** Below this version the session has no point. */
  private final long bornIn;

  private final Failures failures;
  private long version;

  /** The last version whose points were requested, or whose shift has ended without that. */
  private long settled;

  private long point;
  private long atEnd = -1;

  /** The session, while it must not be forgotten; nobody reads it. */
  @SuppressWarnings("UnusedVariable")
  private volatile @Nullable Object kept;

  /**
   * @param before the commit point of the session's previous lives
   * @param version which the store was in when the session began
   */
  Participant(
      @Nullable String name,
      ChainSteps.Stripe steps,
      @Nullable Handover<?, ?, ?> handover,
      CommitPoint before,
      long version) {
    this.name = name;
    this.steps = steps;
    this.handover = handover;
    offset = before.serial() - steps.operations();
    point = before.serial();
    failures = new Failures(before.excluded(), point);
    bornIn = version;
    settled = version;
    this.version = version;
  }

  @Nullable String name() {
    return name;
  }

  /** The session's pending updates; null if it never has any. */
  @Nullable Handover<?, ?, ?> handover() {
    return handover;
  }

  /** How many operations were accepted; for the session's thread. */
  long serial() {
    return offset + steps.operations();
  }

  /**
   * Notes that the operations from now on are of {@code next}, unless that was noted before. Called
   * by the session before its first attempt in that version, and for a session that has made none
   * by whoever drives the shift, when none of the version before can be under way any more.
   */
  synchronized void cross(long next) {
    if (version < next) {
      // The call first: if it finds no stack, the session has not crossed.
      point = atEnd < 0 ? serial() : atEnd;
      version = next;
    }
  }

  /** Whether the session has made attempts of versions before {@code next}. */
  synchronized boolean isOlderThan(long next) {
    return bornIn < next;
  }

  /**
   * The commit point of the versions before the one that the session crossed to; all their
   * operations have ended.
   */
  synchronized CommitPoint point() {
    settled = version;
    return new CommitPoint(point, failures.excluded(point));
  }

  /** Notes that the shift has ended and the session's point is no longer needed. */
  synchronized void settle() {
    settled = version;
  }

  /** The session's updates that did not take effect. */
  Failures failures() {
    return failures;
  }

  /** Marks the failure of an operation as reported; for the session's thread. */
  synchronized void reported(long serial) {
    long last = atEnd < 0 ? serial() : atEnd;
    failures.reported(serial, last);
    failures.forget(settled < version ? point : last);
  }

  /** The session makes no more attempts. */
  synchronized void end() {
    atEnd = serial();
  }

  synchronized boolean hasEnded() {
    return atEnd >= 0;
  }

  /** The commit point of a session that has ended. */
  synchronized CommitPoint last() {
    return new CommitPoint(atEnd, failures.excluded(atEnd));
  }

  /** Keeps the session from being forgotten, or no longer if null. */
  void keep(@Nullable Object session) {
    kept = session;
  }
}
