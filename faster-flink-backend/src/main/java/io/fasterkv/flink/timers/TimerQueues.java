package io.fasterkv.flink.timers;

import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/** The timer queues of one operator, one for each name. For the task thread. */
public sealed interface TimerQueues permits HeapTimers, StoreTimers {

  /**
   * The queue of this name, new or restored.
   *
   * @param allowSerializerUpgrades whether later calls may bring another serializer
   */
  <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
      KeyGroupedInternalPriorityQueue<T> queue(
          String name, TypeSerializer<T> serializer, boolean allowSerializerUpgrades);

  /** The queue that a snapshot describes, for its timers to be added. */
  RestoredQueue restored(StateMetaInfoSnapshot snapshot);

  /** The timers that are on the heap, as they are now; those in the store are in its records. */
  List<HeapPriorityQueueStateSnapshot<?>> onHeap();
}
