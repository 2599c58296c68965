package io.fasterkv.flink.snapshot;

import io.fasterkv.StoreExport;
import java.util.BitSet;
import java.util.List;
import org.apache.flink.runtime.state.SnapshotResources;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.util.ResourceGuard;

/**
 * One incremental snapshot as the task thread has taken it: a version of the store, the timers on
 * the heap, and what is known about the states at that moment.
 *
 * @param export the version; keeps the log that it is made of
 * @param lease keeps the store open
 * @param states first those in the store, in the order of their numbers, then the queues
 * @param inStore how many of them are in the store
 * @param nextIdentity above all identities of values of several records
 * @param timed those of which parts may have expired
 * @param timers the queues on the heap
 * @param cancellation cancels the work
 */
public record IncrementalSnapshot(
    StoreExport export,
    ResourceGuard.Lease lease,
    List<StateMetaInfoSnapshot> states,
    int inStore,
    long nextIdentity,
    BitSet timed,
    List<HeapPriorityQueueStateSnapshot<?>> timers,
    Cancellation cancellation)
    implements SnapshotResources {

  /** Releases the store, even while a thread hangs in checkpoint storage. */
  @Override
  public void release() {
    cancellation.awaitStoreUnused();
    try {
      export.close();
    } finally {
      lease.close();
    }
  }
}
