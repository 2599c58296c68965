package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import io.fasterkv.bench.report.Spread;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The measurements of a row on one backend.
 *
 * @param memoryBytes managed memory of the backend
 * @param turns one for each round, in order
 */
record StateResult(
    Suite suite,
    StateRow row,
    Backend backend,
    MemorySetting memory,
    long memoryBytes,
    List<Turn> turns) {

  /**
   * Operations of one round, their time, and their heap allocation.
   *
   * @param isAlone whether no backend had background work when this turn began
   */
  record Turn(long operations, long nanos, long allocatedBytes, boolean isAlone)
      implements Serializable {
    double perMilli() {
      return operations * 1e6 / nanos;
    }
  }

  static StateResult empty(
      Suite suite, StateRow row, Backend backend, MemorySetting memory, long memoryBytes) {
    return new StateResult(suite, row, backend, memory, memoryBytes, new ArrayList<>());
  }

  /** Operations a millisecond. */
  Spread perMilli() {
    return Spread.of(turns.stream().map(Turn::perMilli).toList());
  }

  /** Turns that began while another backend's background work was running. */
  int disturbedTurns() {
    return (int) turns.stream().filter(turn -> !turn.isAlone).count();
  }

  double bytesPerOp() {
    return Spread.of(
            turns.stream().map(turn -> (double) turn.allocatedBytes / turn.operations).toList())
        .median();
  }

  /** This backend's speed as a multiple of another's, round by round. */
  Spread times(StateResult other) {
    return Spread.of(
        IntStream.range(0, turns.size())
            .mapToObj(round -> turns.get(round).perMilli() / other.turns.get(round).perMilli())
            .toList());
  }

  boolean isSameRow(StateResult other) {
    return suite == other.suite && row == other.row && memory.equals(other.memory);
  }

  String label() {
    return suite.benchmark() + "." + row;
  }
}
