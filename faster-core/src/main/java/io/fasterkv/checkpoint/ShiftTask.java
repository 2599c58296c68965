package io.fasterkv.checkpoint;

import io.fasterkv.epoch.Phase;

/**
 * One step of a version shift (CPR, section 6.2). The driver calls {@link #before}, tells the phase
 * to all, waits until every attempt of an operation that had not seen it has ended, and calls
 * {@link #after}.
 */
interface ShiftTask {
  /** The phase that this step begins. */
  Phase phase();

  /** What is to be true when the first operation sees the phase. */
  default void before(ShiftRun run) {}

  /** What can be done when no operation is in an earlier phase any more. */
  default void after(ShiftRun run) {}
}
