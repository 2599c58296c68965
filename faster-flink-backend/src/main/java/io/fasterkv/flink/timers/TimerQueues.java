package io.fasterkv.flink.timers;

import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/** The timer queues of one operator, by name. For the task thread. */
public sealed interface TimerQueues permits HeapTimers, StoreTimers {

  /**
   * Returns the queue with this name, new or restored.
   *
   * @param allowSerializerUpgrades whether later calls may use another serializer
   */
  <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
      KeyGroupedInternalPriorityQueue<T> queue(
          String name, TypeSerializer<T> serializer, boolean allowSerializerUpgrades);

  /** Returns the queue that a snapshot describes, so that its timers can be added. */
  RestoredQueue restored(StateMetaInfoSnapshot snapshot);

  /** A snapshot of the timers on the heap; those in the store are part of its records. */
  List<HeapPriorityQueueStateSnapshot<?>> onHeap();
}
