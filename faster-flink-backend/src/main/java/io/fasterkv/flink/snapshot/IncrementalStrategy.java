package io.fasterkv.flink.snapshot;

import io.fasterkv.flink.key.KeySpace;
import io.fasterkv.flink.records.write.StateRecords;
import io.fasterkv.flink.state.Registered;
import io.fasterkv.flink.state.StateRegistry;
import io.fasterkv.flink.timers.TimerQueues;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.SnapshotStrategy;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.util.ResourceGuard;

/**
 * Takes incremental checkpoints. The synchronous part moves the store to the next version (CPR,
 * section 6.2). The asynchronous part writes the pieces of the log that no confirmed checkpoint has
 * to files, and compacts the log's head to keep the next checkpoint small.
 */
public final class IncrementalStrategy
    implements SnapshotStrategy<KeyedStateHandle, IncrementalSnapshot> {
  private final LocalStore local;
  private final KeySpace<?> keys;
  private final StateRegistry states;
  private final StateRecords records;
  private final TimerQueues timers;
  private final SharedLog log;
  private final HeadCompaction head;

  public IncrementalStrategy(
      LocalStore local,
      KeySpace<?> keys,
      StateRegistry states,
      StateRecords records,
      TimerQueues timers,
      SharedLog log) {
    this.local = local;
    this.keys = keys;
    this.states = states;
    this.records = records;
    this.timers = timers;
    this.log = log;
    head = new HeadCompaction(new StoreHead(local.store()));
  }

  @Override
  public IncrementalSnapshot syncPrepareResources(long checkpointId) throws IOException {
    List<StateMetaInfoSnapshot> metaInfos = new ArrayList<>();
    for (Registered state : states.all()) {
      metaInfos.add(state.metaInfo().snapshot());
    }
    int inStore = metaInfos.size();
    List<HeapPriorityQueueStateSnapshot<?>> queues = timers.onHeap();
    for (HeapPriorityQueueStateSnapshot<?> queue : queues) {
      metaInfos.add(queue.getMetaInfoSnapshot());
    }
    long nextIncarnation = records.incarnations().next();
    BitSet timed = records.incarnations().timed();
    Cancellation cancellation = new Cancellation();
    ResourceGuard.Lease lease = local.guard().acquireResource();
    try {
      return new IncrementalSnapshot(
          local.store().integration().export(),
          lease,
          metaInfos,
          inStore,
          nextIncarnation,
          timed,
          queues,
          cancellation);
    } catch (Throwable failure) {
      lease.close();
      throw failure;
    }
  }

  @Override
  public SnapshotResultSupplier<KeyedStateHandle> asyncSnapshot(
      IncrementalSnapshot snapshot,
      long checkpointId,
      long timestamp,
      CheckpointStreamFactory streamFactory,
      CheckpointOptions options) {
    if (snapshot.states().isEmpty()) {
      return registry -> SnapshotResult.empty();
    }
    try {
      UploadPlan plan =
          UploadPlan.of(
              checkpointId,
              options.getCheckpointType().getSharingFilesStrategy(),
              log.history().usable(),
              local.uploadStreams(),
              streamFactory);
      if (plan.isShared()) {
        // The base of a later checkpoint must not depend on the progress of this one.
        log.history().put(checkpointId, plan.usable());
      }
      return new IncrementalUpload(snapshot, plan, keys, log, head, local);
    } catch (Throwable failure) {
      // Flink releases a snapshot only if it has received its asynchronous part.
      snapshot.release();
      throw failure;
    }
  }

  /** Called when a checkpoint is complete: later ones may build on it. */
  public void notifyComplete(long checkpointId) {
    log.history().confirm(checkpointId);
  }

  /** Called when a checkpoint will never be complete. */
  public void notifyAborted(long checkpointId) {
    log.history().abort(checkpointId);
  }
}
