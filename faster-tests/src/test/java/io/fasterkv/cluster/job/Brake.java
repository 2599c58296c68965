package io.fasterkv.cluster.job;

import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Slows down a task until the gate, a file, exists. */
final class Brake implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int PIECE = 16;

  private final int micros;
  private final String gate;
  private int numbers;
  private boolean isReleased;

  /**
   * Creates a brake for each task.
   *
   * @param micros the average pause for a number, or 0
   */
  Brake(int micros, String gate) {
    this.micros = micros;
    this.gate = gate;
    isReleased = micros == 0;
  }

  /** Must be called for each number. */
  void apply() {
    if (isReleased || ++numbers % PIECE != 0) {
      return;
    }
    isReleased = Files.exists(Path.of(gate));
    if (!isReleased) {
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos((long) micros * PIECE));
    }
  }
}
