package io.fasterkv.bench.flink;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Slices of one row on one backend, one after the other, each about the keys behind those of the
 * one before: what was asked for just now is in every cache. What brings the state back after each
 * is not timed.
 */
final class StateTurn {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final FlinkPlan plan;
  private final StateRow row;
  private final StateLoops loops;
  private final int calls;
  private final List<Long> sums = new ArrayList<>();
  private int from;
  private boolean isAlone = true;

  StateTurn(FlinkPlan plan, StateRow row, StateLoops loops, int from, int calls) {
    this.plan = plan;
    this.row = row;
    this.loops = loops;
    this.from = from;
    this.calls = calls;
  }

  /** Notes that something else goes on beside the turn. */
  void disturbed() {
    isAlone = false;
  }

  /** What the slices have read, in their order. */
  List<Long> sums() {
    return sums;
  }

  /**
   * Runs slices, one at least, until they have lasted for as long as the plan says, or all of it
   * for {@code mostNanos}.
   */
  StateResult.Turn run(long mostNanos) throws Exception {
    long wall = System.nanoTime();
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
    } while (nanos < plan.turnNanos() && System.nanoTime() - wall < mostNanos + plan.turnNanos());
    return new StateResult.Turn(slices * row.operations(calls), nanos, bytes, isAlone);
  }
}
