package io.fasterkv.flink.snapshot;

import io.fasterkv.spi.StoreExport;
import java.util.BitSet;
import java.util.List;
import org.apache.flink.runtime.state.SnapshotResources;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.util.ResourceGuard;

/**
 * An incremental snapshot that the task thread has taken: a version of the store, the timers on the
 * heap, and the metadata of the states at that moment.
 *
 * @param export the version; keeps its part of the log
 * @param lease keeps the store open
 * @param states first those in the store, in the order of their numbers, then the queues
 * @param inStore how many of them are in the store
 * @param nextIncarnation above all incarnations of values of several records
 * @param timed the states whose parts may have expired
 * @param timers the queues on the heap
 * @param cancellation cancels the work
 */
public record IncrementalSnapshot(
    StoreExport export,
    ResourceGuard.Lease lease,
    List<StateMetaInfoSnapshot> states,
    int inStore,
    long nextIncarnation,
    BitSet timed,
    List<HeapPriorityQueueStateSnapshot<?>> timers,
    Cancellation cancellation)
    implements SnapshotResources {

  /** Releases the store without waiting, even while a thread hangs in checkpoint storage. */
  @Override
  public void release() {
    cancellation.releaseWhenUnused(this::releaseStore);
  }

  private void releaseStore() {
    try {
      export.close();
    } finally {
      lease.close();
    }
  }
}
