package io.fasterkv.flink;

import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.runtime.state.ttl.StateBackendTestContext;
import org.apache.flink.runtime.state.ttl.TtlStateTestBase;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** Flink's own suite for time to live. */
abstract class FasterTtlStateTestBase extends TtlStateTestBase {

  /** The stores to run on. */
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

  /** Expired entries leave with full snapshots and when they are read. */
  @Override
  protected boolean incrementalCleanupSupported() {
    return false;
  }
}
