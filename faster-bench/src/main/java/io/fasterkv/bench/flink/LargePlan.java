package io.fasterkv.bench.flink;

import io.fasterkv.bench.demo.Backend;
import java.util.List;

/**
 * Checkpoints and restores of much state.
 *
 * @param backends in the order in which they take turns
 * @param stateBytes how much state there is, about
 * @param valueBytes bytes of a value
 * @param memoryBytes managed memory of a backend
 * @param rounds of checkpoints, three of each backend in each, and of restores
 */
record LargePlan(
    List<Backend> backends, long stateBytes, int valueBytes, long memoryBytes, int rounds) {
  /** Bytes of a value of checkpoints that are written to local files. */
  static final int VALUE_BYTES = 1_000;

  /** One key in so many changes between two checkpoints. */
  static final int ONE_CHANGES_IN = 100;

  int keys() {
    return Math.toIntExact(stateBytes / (valueBytes + Long.BYTES));
  }

  int changedKeys() {
    return Math.max(1, keys() / ONE_CHANGES_IN);
  }

  /** Bytes of keys and values that change between two checkpoints. */
  long changedBytes() {
    return (long) changedKeys() * (valueBytes + Long.BYTES);
  }
}
