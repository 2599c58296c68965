package io.fasterkv.checkpoint.shift;

import io.fasterkv.state.Phase;

/**
 * One step of a version shift (CPR, section 6.2). The driver calls {@link #before}, publishes the
 * phase, waits until every attempt that had not seen it has ended, and calls {@link #after}.
 */
public interface ShiftTask {
  /** The phase that this step begins. */
  Phase phase();

  /** Runs before the first operation sees the phase. */
  default void before(ShiftRun run) {}

  /** Runs after the last operation of an earlier phase has ended. */
  default void after(ShiftRun run) {}
}
