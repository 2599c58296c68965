package io.fasterkv.bench.flink;

/** A measurement with slow storage. */
enum SlowRow {
  /** From the barrier until a checkpoint of all state is written. */
  upload("ms", 1.1, 1.1),
  /** The highest number of open streams meanwhile. */
  uploadStreams("", 0, 0),
  /** From the start of a restore until the first value is read. */
  firstRecord("ms", 0.3, 0.6),
  /** The bytes that were read from the storage until then. */
  readBeforeFirst("MB", 0, 0),
  /** From the start of a restore until reads reach 90% of their final rate. */
  nineTenths("ms", 1, 1),
  /** Reads of one thread once nothing is read from the storage. */
  steadyReads("1/s", 0, 0),
  /** The highest number of open streams since the start of a restore. */
  restoreStreams("", 0, 0);

  /** Values with fewer bytes count as small. */
  private static final int SMALL_BYTES = 1_000;

  private final String unit;
  private final double wanted;
  private final double wantedOfSmall;

  SlowRow(String unit, double wanted, double wantedOfSmall) {
    this.unit = unit;
    this.wanted = wanted;
    this.wantedOfSmall = wantedOfSmall;
  }

  String unit() {
    return unit;
  }

  /** The highest allowed multiple of rocksdb's value; 0 if there is no target. */
  double wanted(int valueBytes) {
    return valueBytes < SMALL_BYTES ? wantedOfSmall : wanted;
  }
}
