package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The plan for checkpoints and restores of large state.
 *
 * @param backends in the order in which they take turns
 * @param stateBytes approximate size of the state
 * @param valueBytes bytes of a value
 * @param memoryBytes managed memory of a backend
 * @param rounds of checkpoints, three of each backend in each, and of restores
 * @param repeatedPercent of a value's bytes, which are the same in all values
 * @param compression Flink's option for files of snapshots; null if it is not set
 */
record LargePlan(
    List<Backend> backends,
    long stateBytes,
    int valueBytes,
    long memoryBytes,
    int rounds,
    int repeatedPercent,
    @Nullable Boolean compression) {
  /** Bytes of a value of checkpoints that are written to local files. */
  static final int VALUE_BYTES = 1_000;

  /** One in this many keys changes between two checkpoints. */
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
