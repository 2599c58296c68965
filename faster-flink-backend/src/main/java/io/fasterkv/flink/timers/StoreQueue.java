package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.tree.TimerTree;
import io.fasterkv.flink.records.tree.TimerTrees;
import io.fasterkv.flink.state.RegisteredQueue;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.KeyExtractorFunction;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.PriorityComparator;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.runtime.state.heap.KeyGroupPartitionedPriorityQueue;

/**
 * A timer queue in the store: an ordered set for each key group, and Flink's heap over their heads.
 * For the task thread.
 *
 * @param <T> type of the elements
 */
final class StoreQueue<
    T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>> {
  /** The key of the records of all sets. */
  private static final byte[] ALL = {};

  private final RegisteredQueue<T> registered;
  private final TimerTrees trees;
  private final ElementBytes<T> elements;
  private final int firstKeyGroup;
  private final List<KeyGroupTimers<T>> keyGroups = new ArrayList<>();
  private final KeyGroupedInternalPriorityQueue<T> queue;

  StoreQueue(
      RegisteredQueue<T> registered, TimerTrees trees, KeyGroupRange range, int allKeyGroups) {
    this.registered = registered;
    this.trees = trees;
    this.elements = new ElementBytes<>(registered.serializer());
    this.firstKeyGroup = range.getStartKeyGroup();
    this.queue =
        new KeyGroupPartitionedPriorityQueue<T, KeyGroupTimers<T>>(
            KeyExtractorFunction.forKeyedObjects(),
            PriorityComparator.forPriorityComparableObjects(),
            (keyGroup, all, keyExtractor, priorities) -> newKeyGroup(keyGroup, priorities),
            range,
            allKeyGroups);
  }

  private KeyGroupTimers<T> newKeyGroup(int keyGroup, PriorityComparator<T> priorities) {
    KeyGroupTimers<T> timers =
        new KeyGroupTimers<>(set(trees, keyGroup, registered), elements, priorities);
    keyGroups.add(timers);
    return timers;
  }

  /** The set of one key group's elements. */
  static TimerTree set(TimerTrees trees, int keyGroup, RegisteredQueue<?> queue) {
    return trees.tree(keyGroup, queue.id(), ALL);
  }

  TimerTree set(int keyGroup) {
    return keyGroups.get(keyGroup - firstKeyGroup).tree();
  }

  KeyGroupedInternalPriorityQueue<T> queue() {
    return queue;
  }

  /** Number of elements on the heap: at most one for each key group. */
  int elementsOnHeap() {
    return keyGroups.stream().mapToInt(KeyGroupTimers::elementsOnHeap).sum();
  }

  /**
   * Switches to the serializer that is registered now, which must be able to read the stored
   * timers.
   */
  void takeSerializer() {
    elements.setSerializer(registered.serializer());
  }
}
