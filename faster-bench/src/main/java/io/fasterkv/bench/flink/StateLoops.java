package io.fasterkv.bench.flink;

/**
 * A suite's loops over one backend. Calls are numbered, and the number says which key and value
 * they are about.
 */
interface StateLoops {

  /** Gives each set-up key its state. */
  void load() throws Exception;

  /**
   * Makes calls of a row.
   *
   * @return a sum over what was read; it is the same for every backend that holds the same
   */
  long run(StateRow row, int from, int to) throws Exception;

  /** Brings back the state as it was loaded, for the keys that these calls were about. */
  void restore(StateRow row, int from, int to) throws Exception;
}
