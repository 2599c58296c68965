package io.fasterkv.checkpoint.recover;

import io.fasterkv.api.checkpoint.RecoveryProgress;
import io.fasterkv.api.checkpoint.RecoveryProgress.Phase;
import java.util.function.Consumer;

/** Reports the progress of a recovery to a listener, at most a hundred times in each phase. */
final class Progress {
  private static final int STEPS = 100;
  private static final double NANOS = 1e9;

  private final Consumer<RecoveryProgress> listener;
  private Phase phase = Phase.INDEX;
  private long total;
  private long done;
  private long reportedBytes;
  private long begunNanos;

  Progress(Consumer<RecoveryProgress> listener) {
    this.listener = listener;
  }

  void begin(Phase nextPhase, long totalBytes) {
    phase = nextPhase;
    total = totalBytes;
    done = 0;
    begunNanos = System.nanoTime();
    report();
  }

  void add(long bytes) {
    done += bytes;
    if (done < total && done - reportedBytes >= total / STEPS) {
      report();
    }
  }

  /**
   * Reports the same progress again, so that a listener can end the recovery while it makes none.
   */
  void repeat() {
    report();
  }

  void end() {
    done = total;
    report();
  }

  private void report() {
    reportedBytes = done;
    long nanos = System.nanoTime() - begunNanos;
    double rate = done == 0 || nanos <= 0 ? 0 : done * NANOS / nanos;
    listener.accept(new RecoveryProgress(phase, done, total, rate));
  }
}
