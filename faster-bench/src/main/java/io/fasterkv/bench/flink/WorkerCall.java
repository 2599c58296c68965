package io.fasterkv.bench.flink;

import io.fasterkv.bench.args.Backend;
import java.io.Serializable;
import java.util.List;

/**
 * A call of a {@link BackendProcess}, made one after the other.
 *
 * @param <R> the answer, which must be serializable
 */
sealed interface WorkerCall<R> extends Serializable {
  /** The answer of a call without a result. */
  Boolean DONE = true;

  /** Executes the call in the backend's own process. */
  R on(BackendWorker worker) throws Exception;

  /**
   * Opens a backend below a directory, instead of the one before, and loads its state.
   *
   * @param memoryBytes managed memory
   */
  record Open(FlinkPlan plan, Suite suite, long memoryBytes, Backend kind, String directory)
      implements WorkerCall<Boolean> {
    @Override
    public Boolean on(BackendWorker worker) throws Exception {
      worker.open(this);
      return DONE;
    }
  }

  /** Closes the backend. */
  record Close() implements WorkerCall<Boolean> {
    @Override
    public Boolean on(BackendWorker worker) throws Exception {
      worker.close();
      return DONE;
    }
  }

  /** Makes calls of a row, and restores the state. */
  record Pass(StateRow row, int from, int to) implements WorkerCall<Pass.Done> {
    /** The sum of what was read, and the total time. */
    record Done(long sum, long nanos) implements Serializable {}

    @Override
    public Done on(BackendWorker worker) throws Exception {
      return worker.pass(this);
    }
  }

  /**
   * Runs the rest of a warm-up.
   *
   * @param calls number of calls that have been made, and that a slice has
   * @param spentNanos time spent on them
   */
  record WarmOn(StateRow row, int calls, long spentNanos) implements WorkerCall<Boolean> {
    @Override
    public Boolean on(BackendWorker worker) throws Exception {
      worker.warmOn(this);
      return DONE;
    }
  }

  /** Makes later calls use the keys in another order; see {@link StateData#reorder}. */
  record Reorder() implements WorkerCall<Boolean> {
    @Override
    public Boolean on(BackendWorker worker) {
      worker.reorder();
      return DONE;
    }
  }

  /**
   * Runs for the planned time without measuring, and then measures a turn.
   *
   * @param from the first key
   * @param calls number of calls in a slice
   * @param isAlone whether nothing else is running
   */
  record Turn(StateRow row, int from, int calls, boolean isAlone) implements WorkerCall<Turn.Done> {
    /** The measurement, and the results of all slices. */
    record Done(StateResult.Turn measured, List<Long> sums) implements Serializable {}

    @Override
    public Done on(BackendWorker worker) throws Exception {
      return worker.turn(this);
    }
  }
}
