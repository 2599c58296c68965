package io.fasterkv.flink.timers;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.HeapPriorityQueuesManager;
import org.apache.flink.runtime.state.KeyExtractorFunction;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSet;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSetFactory;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSnapshotRestoreWrapper;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/**
 * The timer queues of one operator, on the heap: Flink's own, one for each name. They are part of
 * every snapshot. For the task thread.
 */
public final class HeapTimers {
  private static final int FIRST_CAPACITY = 128;

  private final KeyGroupRange keyGroups;
  private final int allKeyGroups;
  private final HeapPriorityQueueSetFactory factory;
  private final Map<String, HeapPriorityQueueSnapshotRestoreWrapper<?>> queues =
      new LinkedHashMap<>();
  private final HeapPriorityQueuesManager manager;

  public HeapTimers(KeyGroupRange keyGroups, int allKeyGroups) {
    this.keyGroups = keyGroups;
    this.allKeyGroups = allKeyGroups;
    this.factory = new HeapPriorityQueueSetFactory(keyGroups, allKeyGroups, FIRST_CAPACITY);
    this.manager = new HeapPriorityQueuesManager(queues, factory, keyGroups, allKeyGroups);
  }

  /** The queue of this name, new or restored. */
  public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
      KeyGroupedInternalPriorityQueue<T> queue(
          String name, TypeSerializer<T> serializer, boolean allowSerializerUpgrades) {
    return manager.createOrUpdate(name, serializer, allowSerializerUpgrades);
  }

  /** The queue that a snapshot describes, for its timers to be added. */
  public RestoredQueue restored(StateMetaInfoSnapshot snapshot) {
    return new RestoredQueue(queues.computeIfAbsent(snapshot.getName(), name -> wrap(snapshot)));
  }

  /** Raw, since what a snapshot describes has no static type. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private HeapPriorityQueueSnapshotRestoreWrapper<?> wrap(StateMetaInfoSnapshot snapshot) {
    RegisteredPriorityQueueStateBackendMetaInfo metaInfo =
        new RegisteredPriorityQueueStateBackendMetaInfo(snapshot);
    HeapPriorityQueueSet queue =
        factory.create(metaInfo.getName(), metaInfo.getElementSerializer());
    return new HeapPriorityQueueSnapshotRestoreWrapper(
        queue, metaInfo, KeyExtractorFunction.forKeyedObjects(), keyGroups, allKeyGroups);
  }

  /** The queues as they are now; the timers themselves are shared, since they never change. */
  public List<HeapPriorityQueueStateSnapshot<?>> snapshot() {
    List<HeapPriorityQueueStateSnapshot<?>> snapshots = new ArrayList<>(queues.size());
    for (HeapPriorityQueueSnapshotRestoreWrapper<?> queue : queues.values()) {
      snapshots.add(queue.stateSnapshot());
    }
    return snapshots;
  }
}
