package io.fasterkv.operation;

import org.jspecify.annotations.Nullable;

/**
 * One session's part in the shifts from one version of the store to the next: how many operations
 * it has accepted, and how many of them are of the version before. Refers to the session only while
 * that has updates pending, which a shift may have to end.
 */
final class Participant {
  private final @Nullable String name;
  private final ChainSteps.Stripe steps;
  private final @Nullable Handover<?, ?, ?> handover;

  /** What to add to the operations that the stripe has counted. */
  private final long offset;

  /** Below this version the session has no point. */
  private final long bornIn;

  private long version;
  private long point;
  private long atEnd = -1;

  /** The session, while it must not be forgotten; nobody reads it. */
  @SuppressWarnings("UnusedVariable")
  private volatile @Nullable Object kept;

  /**
   * @param base the serial number before the session's first operation
   * @param version which the store was in when the session began
   */
  Participant(
      @Nullable String name,
      ChainSteps.Stripe steps,
      @Nullable Handover<?, ?, ?> handover,
      long base,
      long version) {
    this.name = name;
    this.steps = steps;
    this.handover = handover;
    offset = base - steps.operations();
    point = base;
    bornIn = version;
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
      version = next;
      point = atEnd < 0 ? serial() : atEnd;
    }
  }

  /** Whether the session has made attempts of versions before {@code next}. */
  synchronized boolean isOlderThan(long next) {
    return bornIn < next;
  }

  /** The session's last operation that is of the version before the one it crossed to. */
  synchronized long point() {
    return point;
  }

  /** The session makes no more attempts. */
  synchronized void end() {
    atEnd = serial();
  }

  synchronized boolean hasEnded() {
    return atEnd >= 0;
  }

  /** The number of the session's last operation, when it has ended. */
  synchronized long lastSerial() {
    return atEnd;
  }

  /** Keeps the session from being forgotten, or no longer if null. */
  void keep(@Nullable Object session) {
    kept = session;
  }
}
