package io.fasterkv.bench.flink;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs consecutive slices of one row on one backend, each on the keys after those of the slice
 * before, since recently used data is in every cache. Restoring the state after each slice is not
 * timed. If keys or many elements were added, the background work that removing them causes is not
 * timed either, as in Flink's benchmarks, because adding itself causes no such work.
 */
final class StateTurn {
  /**
   * The time of the slowest backend for a slice, with restoring the state after it; a turn that has
   * taken that long has no further slice.
   */
  static final long SLICE_NANOS = 3_000_000_000L;

  /** Maximum total time that a turn waits between its slices. */
  private static final long MOST_WAITING_NANOS = 10_000_000_000L;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final FlinkPlan plan;
  private final WorkerCall.Turn call;
  private final StateLoops loops;
  private final List<Long> sums = new ArrayList<>();
  private int from;
  private boolean isQuiet = true;

  StateTurn(FlinkPlan plan, WorkerCall.Turn call, StateLoops loops) {
    this.plan = plan;
    this.call = call;
    this.loops = loops;
    from = call.from();
  }

  /** The results of the slices, in order. */
  List<Long> sums() {
    return sums;
  }

  /** Runs without timing, until the backend's background work is in a steady state. */
  void warmUp() throws Exception {
    run(false, 1);
    isQuiet = settle();
  }

  /**
   * Runs at least one slice, until the slices have lasted for the planned time, or, with everything
   * except the waits between them, for {@link #SLICE_NANOS} longer; both times are multiplied by
   * the row's stretch. It also ends when the waits have taken too long.
   */
  StateResult.Turn run() throws Exception {
    return run(plan.turnNanos() > 0, call.row().stretch());
  }

  private StateResult.Turn run(boolean waits, int stretch) throws Exception {
    StateRow row = call.row();
    int calls = call.calls();
    long leastNanos = stretch * plan.turnNanos();
    long mostNanos = stretch * (SLICE_NANOS + plan.turnNanos());
    long wall = System.nanoTime();
    long waited = 0;
    long nanos = 0;
    long bytes = 0;
    int slices = 0;
    do {
      long allocated = THREADS.getCurrentThreadAllocatedBytes();
      long begin = plan.clock().nanos();
      long read = loops.run(row, from, from + calls);
      nanos += Math.max(1, plan.clock().nanos() - begin);
      bytes += THREADS.getCurrentThreadAllocatedBytes() - allocated;
      slices++;
      sums.add(read);
      loops.restore(row, from, from + calls);
      from = (from + calls) % plan.setUpKeys();
      long waitsFrom = System.nanoTime();
      isQuiet &= !waits || settle();
      waited += System.nanoTime() - waitsFrom;
    } while (nanos < leastNanos
        && waited < MOST_WAITING_NANOS
        && System.nanoTime() - wall - waited < mostNanos);
    boolean isAlone = call.isAlone() && isQuiet;
    return new StateResult.Turn(slices * row.operations(calls), nanos, bytes, isAlone);
  }

  /** Whether the work that removing the added data has caused is complete, if there is any. */
  private boolean settle() throws InterruptedException {
    return !call.row().onlyAdds() || Quiet.await();
  }
}
