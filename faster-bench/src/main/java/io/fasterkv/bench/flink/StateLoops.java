package io.fasterkv.bench.flink;

/**
 * A suite's loops over one backend. Calls are numbered; the number determines the key and the
 * value.
 */
interface StateLoops {

  /** Gives each set-up key its state. */
  void load() throws Exception;

  /**
   * Makes calls of a row.
   *
   * @return a sum over what was read; the same for every backend with the same contents
   */
  long run(StateRow row, int from, int to) throws Exception;

  /** Restores the state as it was loaded, for the keys of these calls. */
  void restore(StateRow row, int from, int to) throws Exception;
}
