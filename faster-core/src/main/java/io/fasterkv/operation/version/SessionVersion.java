package io.fasterkv.operation.version;

import io.fasterkv.api.checkpoint.CommitPoint;
import org.jspecify.annotations.Nullable;

/**
 * One session's state in version shifts: how many operations it has accepted, which of them failed,
 * and how many belong to the version before. It refers to the session only while that has pending
 * updates, which a shift may have to complete.
 */
public final class SessionVersion {
  /** The session's pending updates, for the thread that drives a shift. */
  public interface Pending {
    /** Takes the latches that updates of {@code version} have not. */
    void latchAll(long version);

    /**
     * Ends updates of {@code version} and before.
     *
     * @param failures receives the updates that fail
     */
    void endAll(long version, Failures failures);

    /** Lets updates of {@code version} and before move to the next version. */
    void releaseAll(long version);
  }

  private final @Nullable String name;
  private final SessionCounters.Stripe counters;
  private final @Nullable Pending pending;

  /** Added to the number of operations that the stripe has counted. */
  private final long offset;

  /** The session has no commit point for versions below this one. */
  private final long bornIn;

  private final Failures failures;
  private long version;

  /** The last version whose points were requested, or whose shift has ended without that. */
  private long settled;

  private long point;
  private long atEnd = -1;

  /** The session while it must not be forgotten; never read. */
  @SuppressWarnings("UnusedVariable")
  private volatile @Nullable Object kept;

  /**
   * @param before the commit point of the session's previous lives
   * @param version the store's version when the session began
   */
  SessionVersion(
      @Nullable String name,
      SessionCounters.Stripe counters,
      @Nullable Pending pending,
      CommitPoint before,
      long version) {
    this.name = name;
    this.counters = counters;
    this.pending = pending;
    offset = before.serial() - counters.operations();
    point = before.serial();
    failures = new Failures(before.excluded(), point);
    bornIn = version;
    settled = version;
    this.version = version;
  }

  public @Nullable String name() {
    return name;
  }

  /** The session's pending updates; null if it never has any. */
  @Nullable Pending pending() {
    return pending;
  }

  /** Number of accepted operations; for the session's thread. */
  public long serial() {
    return offset + counters.operations();
  }

  /**
   * Notes that operations from now on belong to {@code next}, unless that was noted before. The
   * session calls it before its first attempt in that version. For a session without such an
   * attempt, the thread that drives the shift calls it, when no operation of the version before can
   * be running any more.
   */
  public synchronized void cross(long next) {
    if (version < next) {
      // Call first: if it fails for lack of stack, the session has not crossed.
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
  public synchronized CommitPoint point() {
    settled = version;
    return new CommitPoint(point, failures.excluded(point));
  }

  /** Notes that the shift has ended and the session's point is no longer needed. */
  synchronized void settle() {
    settled = version;
  }

  /** The session's updates that did not take effect. */
  public Failures failures() {
    return failures;
  }

  /** Marks the failure of an operation as reported; for the session's thread. */
  public synchronized void reported(long serial) {
    long last = atEnd < 0 ? serial() : atEnd;
    failures.reported(serial, last);
    failures.forget(settled < version ? point : last);
  }

  /** Called when the session makes no more attempts. */
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

  /** Keeps the session from being forgotten; null ends that. */
  public void keep(@Nullable Object session) {
    kept = session;
  }
}
