package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.tree.TimerTree;
import io.fasterkv.flink.records.tree.TimerTrees;
import io.fasterkv.flink.state.RegisteredQueue;
import io.fasterkv.flink.state.StateRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueStateSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.StateMigrationException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps timer queues in the store, with numbers like those of states. Their timers are records, so
 * every cut contains them. For the task thread.
 */
public final class StoreTimers implements TimerQueues {
  private final KeyGroupRange keyGroups;
  private final int allKeyGroups;
  private final StateRegistry states;
  private final TimerTrees trees;
  private final Map<String, StoreQueue<?>> open = new HashMap<>();

  public StoreTimers(
      KeyGroupRange keyGroups, int allKeyGroups, StateRegistry states, TimerTrees trees) {
    this.keyGroups = keyGroups;
    this.allKeyGroups = allKeyGroups;
    this.states = states;
    this.trees = trees;
  }

  @Override
  public <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
      KeyGroupedInternalPriorityQueue<T> queue(
          String name, TypeSerializer<T> serializer, boolean allowSerializerUpgrades) {
    return openQueue(name, serializer, allowSerializerUpgrades).queue();
  }

  @SuppressWarnings("unchecked")
  <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
      StoreQueue<T> openQueue(
          String name, TypeSerializer<T> serializer, boolean allowSerializerUpgrades) {
    StoreQueue<T> queue = (StoreQueue<T>) open.get(name);
    RegisteredQueue<T> registered = (RegisteredQueue<T>) states.findQueue(name);
    if (registered == null) {
      registered = states.add(new RegisteredPriorityQueueStateBackendMetaInfo<>(name, serializer));
    } else if (queue == null || !serializer.equals(registered.serializer())) {
      update(registered, queue, serializer);
    }
    if (queue == null) {
      queue = new StoreQueue<>(registered, trees, keyGroups, allKeyGroups);
      open.put(name, queue);
    }
    if (allowSerializerUpgrades) {
      registered.allowSerializerUpgrades();
    }
    return queue;
  }

  private <T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
      void update(
          RegisteredQueue<T> registered,
          @Nullable StoreQueue<T> queue,
          TypeSerializer<T> serializer) {
    TypeSerializer<T> before = registered.serializer();
    TypeSerializerSchemaCompatibility<T> compatibility =
        registered.metaInfo().updateElementSerializer(serializer);
    if (compatibility.isIncompatible()) {
      throw new FlinkRuntimeException(
          new StateMigrationException(
              "the new serializer of a timer queue is not compatible with the old one: queue="
                  + registered.name()
                  + ", new="
                  + serializer
                  + ", old="
                  + before));
    }
    if (compatibility.isCompatibleAfterMigration()) {
      QueueMigration<T> migration = new QueueMigration<>(registered, trees, before);
      for (int keyGroup : keyGroups) {
        migration.migrate(
            keyGroup,
            queue == null ? StoreQueue.set(trees, keyGroup, registered) : queue.set(keyGroup));
      }
    }
    if (queue != null) {
      queue.takeSerializer();
    }
  }

  @Override
  public RestoredQueue restored(StateMetaInfoSnapshot snapshot) {
    RegisteredQueue<?> known = states.findQueue(snapshot.getName());
    RegisteredQueue<?> queue =
        known != null
            ? known
            : states.add(new RegisteredPriorityQueueStateBackendMetaInfo<>(snapshot));
    Map<Integer, TimerTree> sets = new HashMap<>();
    return (keyGroup, bytes, offset) ->
        sets.computeIfAbsent(keyGroup, absent -> StoreQueue.set(trees, keyGroup, queue))
            .add(bytes, offset, bytes.length - offset);
  }

  @Override
  public List<HeapPriorityQueueStateSnapshot<?>> onHeap() {
    return List.of();
  }
}
