package io.fasterkv.demo.job;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** The one failure that a run causes on purpose, and the restarts of the job. */
public final class PlannedFailure {
  /** A run is one job before the savepoint, stage 0, and one after it, stage 1. */
  public static final int STAGES = 2;

  private static final int NEVER = -1;

  private final long atWords;
  private final AtomicInteger thrownInAttempt = new AtomicInteger(NEVER);
  private final AtomicIntegerArray restarts = new AtomicIntegerArray(STAGES);
  private volatile boolean recovered;

  PlannedFailure(long atWords) {
    this.atWords = atWords;
  }

  /**
   * Called by a task for each word. Throws the first time that enough of the input has been read.
   *
   * @param words how many words of the input have been read
   * @param attempt how often the task was restarted before, 0 or more
   */
  void wordSeen(long words, int attempt) {
    int thrown = thrownInAttempt.get();
    if (thrown != NEVER) {
      if (attempt > thrown && !recovered) {
        recovered = true;
      }
    } else if (words >= atWords && thrownInAttempt.compareAndSet(NEVER, attempt)) {
      throw new OnPurposeException("the demo fails this task once, on purpose: words=" + words);
    }
  }

  /** Called when a subtask of {@code stage} starts its {@code attempt}th run, counted from 0. */
  void attemptStarted(int stage, int attempt) {
    restarts.accumulateAndGet(stage, attempt, Math::max);
  }

  /** Says whether the task has been failed. */
  public boolean isThrown() {
    return thrownInAttempt.get() != NEVER;
  }

  /** Says whether the job reads on after the failure. */
  public boolean isRecovered() {
    return recovered;
  }

  /** Returns how often the jobs were restarted for another reason; 0 or more. */
  public int unplannedRestarts() {
    int thrown = thrownInAttempt.get();
    int planned = thrown != NEVER && restarts.get(0) > thrown ? 1 : 0;
    int all = 0;
    for (int stage = 0; stage < STAGES; stage++) {
      all += restarts.get(stage);
    }
    return all - planned;
  }

  /** Thrown by a healthy task. */
  static final class OnPurposeException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OnPurposeException(String message) {
      super(message);
    }
  }
}
