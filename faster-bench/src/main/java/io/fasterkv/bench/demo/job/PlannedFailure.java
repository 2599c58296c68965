package io.fasterkv.bench.demo.job;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** The one failure that a run causes on purpose, and the restarts that the job has seen. */
public final class PlannedFailure {
  /** A run is one job before the savepoint, stage 0, and one after it, stage 1. */
  public static final int STAGES = 2;

  private final long atWords;
  private final AtomicBoolean thrown = new AtomicBoolean();
  private final AtomicIntegerArray restarts = new AtomicIntegerArray(STAGES);
  private volatile boolean recovered;

  PlannedFailure(long atWords) {
    this.atWords = atWords;
  }

  /** Throws once, as soon as {@code words} of the input, so far, are enough. */
  void maybeThrow(long words) {
    if (words >= atWords && !thrown.get() && thrown.compareAndSet(false, true)) {
      throw new OnPurposeException("the demo fails this task once, on purpose: words=" + words);
    }
  }

  /** A subtask of {@code stage} runs its {@code attempt}th time, counted from 0. */
  void attemptStarted(int stage, int attempt) {
    restarts.accumulateAndGet(stage, attempt, Math::max);
  }

  /** A restarted subtask has seen a word. */
  void wordAfterRestart() {
    recovered = true;
  }

  /** Says whether the task has been failed. */
  public boolean isThrown() {
    return thrown.get();
  }

  /** Says whether the job reads on after the failure. */
  public boolean isRecovered() {
    return recovered;
  }

  /** Returns how often the job of {@code stage} was restarted, for whatever reason; 0 or more. */
  public int restarts(int stage) {
    return restarts.get(stage);
  }

  /** Thrown by a healthy task. */
  static final class OnPurposeException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OnPurposeException(String message) {
      super(message);
    }
  }
}
