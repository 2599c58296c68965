package io.fasterkv.bench.flink;

/** The measurements of large state. */
enum LargeRow {
  /** How long the task is blocked. */
  synchronousPhase("ms"),
  /** From the barrier until the checkpoint is written. */
  checkpointTime("ms"),
  /** Bytes written to the checkpoint's directory, as a multiple of the changed keys and values. */
  uploadedToChanged("x"),
  /**
   * The 99.9th percentile of an update's time during a checkpoint, as a multiple of that without.
   */
  latencyToSteady("x"),
  /** A backend for all key groups from the checkpoint of one. */
  restore("ms"),
  /** A backend for the lower half of the key groups from the checkpoint of one for all. */
  rescaleOut("ms"),
  /** A backend for all key groups from the checkpoints of two. */
  rescaleIn("ms");

  private final String unit;

  LargeRow(String unit) {
    this.unit = unit;
  }

  String unit() {
    return unit;
  }

  boolean isRestore() {
    return ordinal() >= restore.ordinal();
  }
}
