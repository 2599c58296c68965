package io.fasterkv.flink.metrics;

import io.fasterkv.FasterStore;
import java.io.IOException;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.util.ResourceGuard;

/**
 * Registers the gauges of one store, in a group {@value #GROUP} of its operator. They read counters
 * that the store keeps anyway, only when a reporter asks, so they cost the task nothing. Safe on a
 * reporter's thread at any time; a gauge is 0 after the store was closed.
 */
public final class StoreMetrics {
  /** The group of all metrics of the backend. */
  public static final String GROUP = "faster";

  private final MetricGroup group;
  private final FasterStore store;
  private final ResourceGuard guard;

  private StoreMetrics(MetricGroup group, FasterStore store, ResourceGuard guard) {
    this.group = group;
    this.store = store;
    this.guard = guard;
  }

  /**
   * Registers all gauges.
   *
   * @param operator the operator's group
   * @param guard keeps the store open while it is held; it is closed before the store
   * @param snapshots durations and counts of snapshots
   */
  public static void register(
      MetricGroup operator, FasterStore store, ResourceGuard guard, SnapshotTimes snapshots) {
    StoreMetrics metrics = new StoreMetrics(operator.addGroup(GROUP), store, guard);
    metrics.memory();
    metrics.log();
    metrics.index();
    metrics.compaction();
    metrics.snapshots(snapshots);
  }

  private void memory() {
    gauge("memoryBytes", open -> open.statistics().memory().budgetBytes());
    gauge("memoryMovedInBytes", open -> open.integration().memoryUses().acceptedBytes());
    gauge("memoryMovedOutBytes", open -> open.integration().memoryUses().releasedBytes());
    gauge("memoryUsedBytes", open -> open.statistics().memory().usedBytes());
    gauge("memoryIndexBytes", open -> open.statistics().memory().indexBytes());
    gauge("memoryLogBytes", open -> open.statistics().memory().logBytes());
    gauge("memoryScratchLentBytes", open -> open.statistics().memory().scratchLentBytes());
    gauge("memoryScratchFreeBytes", open -> open.statistics().memory().scratchFreeBytes());
    gauge("memoryOtherBytes", open -> open.statistics().memory().otherBytes());
  }

  private void log() {
    gauge("logBytes", store -> store.statistics().logBytes());
    gauge("logStoredBytes", store -> store.log().storedBytes());
    gauge("logToCopyBytes", store -> store.integration().bytesToCopy());
    gauge("logLiveBytes", store -> store.statistics().liveBytes());
    gauge(
        "logDeadBytes",
        open -> Math.max(0, open.statistics().logBytes() - open.statistics().liveBytes()));
  }

  private void index() {
    gauge("indexEntries", open -> open.statistics().index().entries());
    gauge("indexLoadPercent", open -> Math.round(100 * open.statistics().index().load()));
    gauge("hitsMutable", open -> open.statistics().regionHits().mutable());
    gauge("hitsReadOnly", open -> open.statistics().regionHits().readOnly());
    gauge("hitsDisk", open -> open.statistics().regionHits().disk());
    gauge("recordsReadInMemory", open -> open.statistics().index().recordsInMemory());
    gauge("recordsReadFromDisk", open -> open.statistics().index().recordsFromDisk());
  }

  private void compaction() {
    gauge("compactionPasses", open -> open.statistics().compaction().passes());
    gauge("compactionMovedBytes", open -> open.statistics().compaction().movedBytes());
    gauge("compactionExpiredBytes", open -> open.statistics().compaction().expiredBytes());
    // Live bytes of a piece are copied before the piece counts as scanned, so the difference can be
    // negative.
    gauge(
        "compactionDroppedBytes",
        open -> Math.max(0, open.statistics().compaction().droppedBytes()));
  }

  private void snapshots(SnapshotTimes times) {
    group.<Long, Gauge<Long>>gauge("snapshotsTaken", times::taken);
    group.<Long, Gauge<Long>>gauge("snapshotsFailed", times::failed);
    group.<Long, Gauge<Long>>gauge("lastSnapshotSyncMicros", times::syncMicros);
    group.<Long, Gauge<Long>>gauge("lastSnapshotQueuedMillis", times::queuedMillis);
    group.<Long, Gauge<Long>>gauge("lastSnapshotAsyncMillis", times::asyncMillis);
    group.<Long, Gauge<Long>>gauge("lastSnapshotBytes", times::bytes);
  }

  private void gauge(String name, ToLongFunction<FasterStore> value) {
    group.<Long, Gauge<Long>>gauge(
        name,
        () -> {
          try (ResourceGuard.Lease lease = guard.acquireResource()) {
            return value.applyAsLong(store);
          } catch (IOException closed) {
            return 0L;
          }
        });
  }
}
