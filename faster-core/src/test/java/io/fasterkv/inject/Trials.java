package io.fasterkv.inject;

/** Runs a workload on instrumented classes; shared by the class loaders on both sides. */
public interface Trials {
  /** Runs the workload once and returns the result. */
  Report run(Order order);

  /** Ends all threads of a run that hangs: from now on, each thread fails at its next point. */
  void abandon();
}
