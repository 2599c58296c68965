package io.fasterkv.bench.start;

/**
 * What is measured.
 *
 * @param calls of each step with accesses, one for each key
 * @param stores that are opened beside the first one
 * @param memoryBytes of each of them
 */
record StartPlan(int calls, int stores, long memoryBytes) {
  static final String OPEN = "open the first";
  static final String FIRST_RMWS = "first RMWs";
  static final String FIRST_READS = "first reads";
  static final String MORE_RMWS = "RMWs again";
  static final String MORE_READS = "reads again";
  static final String OPEN_MORE = "open others";
  static final String CHECKPOINT = "checkpoint";
  static final String RESTORE = "restore";
  static final String RESTORED_READS = "reads after it";
}
