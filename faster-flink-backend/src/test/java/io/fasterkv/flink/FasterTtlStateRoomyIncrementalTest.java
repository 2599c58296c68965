package io.fasterkv.flink;

class FasterTtlStateRoomyIncrementalTest extends FasterTtlStateTestBase {
  @Override
  TestSettings settings() {
    return TestSettings.ROOMY_INCREMENTAL;
  }

  /** Incremental checkpoints take the log as it is: what has expired leaves with compaction. */
  @Override
  public boolean isSavepoint() {
    return false;
  }
}
