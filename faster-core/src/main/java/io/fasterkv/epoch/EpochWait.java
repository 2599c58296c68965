package io.fasterkv.epoch;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * A wait, by a thread that is not protected, for something that users of epochs may hold up. It
 * helps actions along, takes the slots of users back that are gone, and does not stay silent: after
 * a while it reports, and again each time it has waited twice as long, who holds it up.
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

  /**
   * @param purpose what is waited for, in words that follow "waiting for"
   */
  public EpochWait(Epochs epochs, Supplier<String> purpose) {
    this.epochs = epochs;
    this.purpose = purpose;
  }

  /** Waits for some microseconds. The caller then looks whether it can go on. */
  public void pause() {
    pause(PAUSE_NANOS);
  }

  /**
   * As {@link #pause}, but each time twice as long, up to two milliseconds: for what takes as long
   * as a disk does. Who looks all the time takes a processor from those who work, again and again.
   */
  public void pauseLonger() {
    pause(nextPauseNanos);
    nextPauseNanos = Math.min(2 * nextPauseNanos, LONGEST_PAUSE_NANOS);
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

  /** What was waited for has come; the next {@link #pause} begins another wait. */
  public void end() {
    isWaiting = false;
    nextPauseNanos = PAUSE_NANOS;
  }

  private void report() {
    epochs.reclaim();
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
    var holders = epochs.holders();
    String who = holders.isEmpty() ? "no user of the epochs" : holders.toString();
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
                + who);
  }
}
