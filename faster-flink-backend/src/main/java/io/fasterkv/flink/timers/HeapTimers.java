package io.fasterkv.flink.timers;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
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
 * Keeps timer queues on the heap, in Flink's own classes. They are part of every snapshot. For the
 * task thread.
 */
public final class HeapTimers implements TimerQueues {
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

  @Override
  public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
      KeyGroupedInternalPriorityQueue<T> queue(
          String name, TypeSerializer<T> serializer, boolean allowSerializerUpgrades) {
    return manager.createOrUpdate(name, serializer, allowSerializerUpgrades);
  }

  @Override
  public RestoredQueue restored(StateMetaInfoSnapshot snapshot) {
    return filling(queues.computeIfAbsent(snapshot.getName(), name -> wrap(snapshot)));
  }

  @SuppressWarnings("unchecked")
  private static <T extends HeapPriorityQueueElement> RestoredQueue filling(
      HeapPriorityQueueSnapshotRestoreWrapper<?> wrapper) {
    var queue = (HeapPriorityQueueSnapshotRestoreWrapper<T>) wrapper;
    DataInputDeserializer in = new DataInputDeserializer();
    return (keyGroup, bytes, offset) -> {
      in.setBuffer(bytes, offset, bytes.length - offset);
      queue.getPriorityQueue().add(queue.getMetaInfo().getElementSerializer().deserialize(in));
    };
  }

  /** Raw, since the elements that a snapshot describes have no static type. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private HeapPriorityQueueSnapshotRestoreWrapper<?> wrap(StateMetaInfoSnapshot snapshot) {
    RegisteredPriorityQueueStateBackendMetaInfo metaInfo =
        new RegisteredPriorityQueueStateBackendMetaInfo(snapshot);
    HeapPriorityQueueSet queue =
        factory.create(metaInfo.getName(), metaInfo.getElementSerializer());
    return new HeapPriorityQueueSnapshotRestoreWrapper(
        queue, metaInfo, KeyExtractorFunction.forKeyedObjects(), keyGroups, allKeyGroups);
  }

  /** Shares the timers with the queues, since they are immutable. */
  @Override
  public List<HeapPriorityQueueStateSnapshot<?>> onHeap() {
    List<HeapPriorityQueueStateSnapshot<?>> snapshots = new ArrayList<>(queues.size());
    for (HeapPriorityQueueSnapshotRestoreWrapper<?> queue : queues.values()) {
      snapshots.add(queue.stateSnapshot());
    }
    return snapshots;
  }
}
