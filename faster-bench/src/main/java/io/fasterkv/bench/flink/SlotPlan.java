package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import java.util.List;

/**
 * Operators that share the memory of a slot.
 *
 * @param memoryBytes managed memory of the slot
 * @param stateDivisor the state is smaller than planned by this factor; 1 to measure
 * @param turnNanos duration of a measured turn, after the same time that does not count
 */
record SlotPlan(
    List<Backend> backends, long memoryBytes, int stateDivisor, long turnNanos, int rounds) {
  static final int VALUE_BYTES = 100;
}
