package io.fasterkv.flink.metrics;

import io.fasterkv.FasterStore;
import java.io.IOException;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.util.ResourceGuard;

/**
 * The gauges of one store, in a group {@value #GROUP} of its operator. They ask for counters that
 * the store has anyway, when a reporter asks for them, and so cost the task nothing. Safe on a
 * reporter's thread at any time: 0 when the store is closed.
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
   * @param guard is closed before the store is, and keeps it open while it is held
   * @param snapshots what is known of snapshots
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
    gauge("memoryBytes", open -> open.memoryUse().budgetBytes());
    gauge("memoryUsedBytes", open -> open.memoryUse().usedBytes());
    gauge("memoryIndexBytes", open -> open.memoryUse().indexBytes());
    gauge("memoryLogBytes", open -> open.memoryUse().logBytes());
    gauge("memoryScratchLentBytes", open -> open.memoryUse().scratchLentBytes());
    gauge("memoryScratchFreeBytes", open -> open.memoryUse().scratchFreeBytes());
    gauge("memoryOtherBytes", open -> open.memoryUse().otherBytes());
  }

  private void log() {
    gauge("logBytes", FasterStore::logBytes);
    gauge("logStoredBytes", FasterStore::storedBytes);
    gauge("logToCopyBytes", FasterStore::bytesToCopy);
    gauge("logLiveBytes", FasterStore::liveBytes);
    gauge("logDeadBytes", open -> Math.max(0, open.logBytes() - open.liveBytes()));
  }

  private void index() {
    gauge("indexEntries", open -> open.indexStatistics().entries());
    gauge("indexLoadPercent", open -> Math.round(100 * open.indexStatistics().load()));
    gauge("hitsMutable", open -> open.regionHits().mutable());
    gauge("hitsReadOnly", open -> open.regionHits().readOnly());
    gauge("hitsDisk", open -> open.regionHits().disk());
    gauge("recordsReadInMemory", open -> open.indexStatistics().recordsInMemory());
    gauge("recordsReadFromDisk", open -> open.indexStatistics().recordsFromDisk());
  }

  private void compaction() {
    gauge("compactionPasses", open -> open.compactionStats().passes());
    gauge("compactionMovedBytes", open -> open.compactionStats().movedBytes());
    gauge("compactionExpiredBytes", open -> open.compactionStats().expiredBytes());
    // A piece's live bytes are moved before the piece counts as scanned.
    gauge("compactionDroppedBytes", open -> Math.max(0, open.compactionStats().droppedBytes()));
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
