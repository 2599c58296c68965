package io.fasterkv.epoch;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * A wait, by an unprotected thread, for a condition that protected users may delay. While it waits,
 * it runs trigger actions that are ready and reclaims the slots of abandoned users. After some time
 * it reports which users delay it, and again each time the wait has doubled. For one thread.
 */
public final class EpochWait {
  private static final long PAUSE_NANOS = 20_000;
  private static final long LONGEST_PAUSE_NANOS = 2_000_000;

  private final Epochs epochs;
  private final Supplier<String> purpose;
  private long startNanos;
  private long reportAfterNanos;
  private long nextPauseNanos = PAUSE_NANOS;
  private boolean isWaiting;
  private boolean isForUsers;

  /**
   * Prepares a wait.
   *
   * @param epochs the epochs whose users may delay the condition
   * @param purpose the condition, in words that follow "waiting for"
   */
  public EpochWait(Epochs epochs, Supplier<String> purpose) {
    this.epochs = epochs;
    this.purpose = purpose;
  }

  /** Waits for 20 microseconds. The caller then checks its condition. */
  public void pause() {
    pause(PAUSE_NANOS);
  }

  /**
   * Like {@link #pause}, but each wait is twice as long as the one before, up to 2 ms. For
   * conditions that take as long as a disk access: checking all the time would take processor time
   * from the threads that do the work.
   */
  public void pauseLonger() {
    pause(nextPauseNanos);
    nextPauseNanos = Math.min(2 * nextPauseNanos, LONGEST_PAUSE_NANOS);
  }

  /** Like {@link #pause}, for a wait that a user in the current epoch delays too. */
  void pauseForUsers() {
    isForUsers = true;
    pause();
  }

  private void pause(long nanos) {
    epochs.drain();
    LockSupport.parkNanos(nanos);
    if (!isWaiting) {
      isWaiting = true;
      startNanos = System.nanoTime();
      reportAfterNanos = epochs.reports().afterNanos();
    } else if (System.nanoTime() - startNanos >= reportAfterNanos) {
      report();
      reportAfterNanos *= 2;
    }
  }

  /** Ends the wait; the next {@link #pause} starts a new one. */
  public void end() {
    isWaiting = false;
    nextPauseNanos = PAUSE_NANOS;
  }

  private void report() {
    epochs.reclaim();
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
    var holders = isForUsers ? epochs.holdersBelow(Long.MAX_VALUE) : epochs.holders();
    String blockers = holders.isEmpty() ? "no user of the epochs" : holders.toString();
    epochs
        .reports()
        .sink()
        .accept(
            "waiting for "
                + purpose.get()
                + ": seconds="
                + seconds
                + ", thread="
                + Thread.currentThread().getName()
                + ", epoch="
                + epochs.currentEpoch()
                + ", heldUpBy="
                + blockers);
  }
}
