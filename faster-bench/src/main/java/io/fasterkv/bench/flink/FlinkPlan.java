package io.fasterkv.bench.flink;

import io.fasterkv.bench.demo.Backend;
import java.io.Serializable;
import java.util.List;

/**
 * What is measured.
 *
 * @param backends in the order in which they take turns
 * @param setUpKeys keys that have state before anything is timed
 * @param newKeys keys that get state while it is timed
 * @param calls of a row in a slice, at most
 * @param warmNanos how long each backend is warmed up for a row, at least: until then parts of it
 *     are not compiled
 * @param turnNanos how long a backend is measured in a turn, at least, after as long a time that
 *     does not count; 0 if it is measured at once, whatever goes on in the background. Some rows
 *     are measured longer, see {@link StateRow#stretch()}
 * @param rounds how often all rows take their turn
 * @param clock what the time of a slice is
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
