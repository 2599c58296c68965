package io.fasterkv.bench.flink;

/** What is measured with slow storage. */
enum SlowRow {
  /** From the barrier until a checkpoint of all state is written. */
  upload("ms", 1.1, 1.1),
  /** The most streams that were open at once meanwhile. */
  uploadStreams("", 0, 0),
  /** From the start of a restore until the first value is read. */
  firstRecord("ms", 0.3, 0.6),
  /** What was read from the storage until then. */
  readBeforeFirst("MB", 0, 0),
  /** From the start of a restore until reads are nine tenths as fast as in the end. */
  nineTenths("ms", 1, 1),
  /** Reads of one thread when nothing is read from the storage any more. */
  steadyReads("1/s", 0, 0),
  /** The most streams that were open at once since the start of a restore. */
  restoreStreams("", 0, 0);

  /** Values of fewer bytes count as small. */
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

  /** What it should be at most, as a multiple of rocksdb's; 0 if nothing is wanted of it. */
  double wanted(int valueBytes) {
    return valueBytes < SMALL_BYTES ? wantedOfSmall : wanted;
  }
}
