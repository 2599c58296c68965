package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import java.io.Serializable;
import java.util.List;

/**
 * The plan of the measurement.
 *
 * @param backends in the order in which they take turns
 * @param setUpKeys keys that have state before anything is timed
 * @param newKeys keys that get state while it is timed
 * @param calls maximum number of calls of a row in a slice
 * @param warmNanos minimum time for warming up each backend for a row, since its code is compiled
 *     during that time
 * @param turnNanos minimum time of a measured turn, after the same time that does not count; 0 to
 *     measure at once, whatever runs in the background. Some rows are measured longer, see {@link
 *     StateRow#stretch()}
 * @param rounds how often all rows take their turn
 * @param clock how the time of a slice is measured
 * @param seed of keys and values
 */
record FlinkPlan(
    List<Backend> backends,
    int setUpKeys,
    int newKeys,
    int calls,
    long warmNanos,
    long turnNanos,
    int rounds,
    Clock clock,
    long seed)
    implements Serializable {

  StateData data() {
    return new StateData(setUpKeys, newKeys, seed);
  }

  long stateBytes(Suite suite) {
    return (long) setUpKeys * suite.bytesPerKey();
  }
}
