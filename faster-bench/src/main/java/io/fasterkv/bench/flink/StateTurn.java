package io.fasterkv.bench.flink;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Slices of one row on one backend, one after the other, each about the keys behind those of the
 * one before: what was asked for just now is in every cache. What brings the state back after each
 * is not timed; nor is, where keys or many elements were added, what taking them away leaves to be
 * done in the background, as in Flink's benchmarks: adding makes nothing to be cleared away.
 */
final class StateTurn {
  /**
   * What the slowest backend may take for a slice, with what brings the state back after it; a turn
   * that has taken that long has no further slice.
   */
  static final long SLICE_NANOS = 3_000_000_000L;

  /** How long a turn may wait between its slices, in all. */
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

  /** What the slices have read, in their order. */
  List<Long> sums() {
    return sums;
  }

  /** Works in the backend's own debts; nobody looks at how long that takes. */
  void warmUp() throws Exception {
    run(false, 1);
    isQuiet = settle();
  }

  /**
   * Runs slices, one at least, until they have lasted for as long as the plan says, or all of it,
   * without the waits between them, for {@link #SLICE_NANOS} longer, both times what the row is
   * stretched by, or the waits for too long.
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

  /** Whether nothing is left to be done of what took away again what was added, if it was. */
  private boolean settle() throws InterruptedException {
    return !call.row().onlyAdds() || Quiet.await();
  }
}
