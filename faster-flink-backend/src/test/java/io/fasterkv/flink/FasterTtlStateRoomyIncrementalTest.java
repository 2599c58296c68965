package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

@Tag("long")
class FasterTtlStateRoomyIncrementalTest extends FasterTtlStateTestBase {
  @Override
  TestSettings settings() {
    return TestSettings.ROOMY_INCREMENTAL;
  }

  /** Incremental checkpoints contain the log unchanged; compaction drops expired records. */
  @Override
  public boolean isSavepoint() {
    return false;
  }
}
