package io.fasterkv.flink;

import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.runtime.state.ttl.StateBackendTestContext;
import org.apache.flink.runtime.state.ttl.TtlStateTestBase;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/** Runs Flink's own suite for time to live. */
abstract class FasterTtlStateTestBase extends TtlStateTestBase {

  private String test = "";

  /** The stores used by the suite. */
  abstract TestSettings settings();

  @Override
  protected StateBackendTestContext createStateBackendTestContext(TtlTimeProvider timeProvider) {
    return new StateBackendTestContext(timeProvider) {
      @Override
      protected StateBackend createStateBackend() {
        return settings().backend();
      }

      @Override
      protected CheckpointStorage createCheckpointStorage() {
        return new JobManagerCheckpointStorage();
      }
    };
  }

  /**
   * True except for a test that inspects the heap backend's own table; {@code ExpiryTest} has a
   * similar one.
   */
  @Override
  protected boolean incrementalCleanupSupported() {
    return !test.equals("testIncrementalCleanupWholeState");
  }

  @BeforeEach
  void remember(TestInfo info) {
    test = info.getTestMethod().orElseThrow().getName();
  }
}
