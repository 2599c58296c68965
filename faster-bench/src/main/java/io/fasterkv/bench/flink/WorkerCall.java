package io.fasterkv.bench.flink;

import io.fasterkv.bench.demo.Backend;
import java.io.Serializable;
import java.util.List;

/**
 * What a {@link BackendProcess} is asked to do, one call after the other.
 *
 * @param <R> the answer, which can be serialized
 */
sealed interface WorkerCall<R> extends Serializable {
  /** What a call without an answer answers. */
  Boolean DONE = true;

  /** Does it, in the backend's own process. */
  R on(BackendWorker worker) throws Exception;

  /**
   * Opens a backend below a directory, in the place of the one before, and loads its state.
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

  /** Makes calls of a row, and brings the state back. */
  record Pass(StateRow row, int from, int to) implements WorkerCall<Pass.Done> {
    /** What was read, and how long all of it took. */
    record Done(long sum, long nanos) implements Serializable {}

    @Override
    public Done on(BackendWorker worker) throws Exception {
      return worker.pass(this);
    }
  }

  /**
   * Makes the rest of a warm-up.
   *
   * @param calls that have been made, and that a slice has
   * @param spentNanos on them
   */
  record WarmOn(StateRow row, int calls, long spentNanos) implements WorkerCall<Boolean> {
    @Override
    public Boolean on(BackendWorker worker) throws Exception {
      worker.warmOn(this);
      return DONE;
    }
  }

  /** Has keys asked for in another order from now on; see {@link StateData#reorder}. */
  record Reorder() implements WorkerCall<Boolean> {
    @Override
    public Boolean on(BackendWorker worker) {
      worker.reorder();
      return DONE;
    }
  }

  /**
   * Works for as long ahead, and is measured then.
   *
   * @param from the first key
   * @param calls of a slice
   * @param isAlone whether nothing else goes on
   */
  record Turn(StateRow row, int from, int calls, boolean isAlone) implements WorkerCall<Turn.Done> {
    /** What was measured, and what all slices have read. */
    record Done(StateResult.Turn measured, List<Long> sums) implements Serializable {}

    @Override
    public Done on(BackendWorker worker) throws Exception {
      return worker.turn(this);
    }
  }
}
