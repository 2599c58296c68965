package io.fasterkv.inject;

/** Runs a workload on instrumented classes; shared by the class loaders on both sides. */
public interface Trials {
  /** Runs the workload once and returns the result. */
  Report run(Order order);

  /** Ends all threads of a run that hangs: from now on each of them fails at the next point. */
  void abandon();
}
