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

  private final Epochs epochs;
  private final Supplier<String> purpose;
  private long startNanos;
  private long reportAfterNanos;
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
    epochs.drain();
    LockSupport.parkNanos(PAUSE_NANOS);
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
