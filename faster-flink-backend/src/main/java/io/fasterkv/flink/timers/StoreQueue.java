package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.ByteTree;
import io.fasterkv.flink.records.ByteTrees;
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
 * One timer queue in the store: an ordered set for each key group, and Flink's heap over the heads
 * of these. For the task thread.
 *
 * @param <T> type of the elements
 */
final class StoreQueue<
    T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>> {
  /** The key of the records of every set. */
  private static final byte[] ALL = {};

  private final RegisteredQueue<T> registered;
  private final ByteTrees trees;
  private final ElementBytes<T> elements;
  private final int firstKeyGroup;
  private final List<KeyGroupTimers<T>> keyGroups = new ArrayList<>();
  private final KeyGroupedInternalPriorityQueue<T> queue;

  StoreQueue(
      RegisteredQueue<T> registered, ByteTrees trees, KeyGroupRange range, int allKeyGroups) {
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
  static ByteTree set(ByteTrees trees, int keyGroup, RegisteredQueue<?> queue) {
    return trees.tree(keyGroup, queue.id(), ALL);
  }

  ByteTree set(int keyGroup) {
    return keyGroups.get(keyGroup - firstKeyGroup).tree();
  }

  KeyGroupedInternalPriorityQueue<T> queue() {
    return queue;
  }

  /** How many elements are on the heap: at most one for each key group. */
  int elementsOnHeap() {
    return keyGroups.stream().mapToInt(KeyGroupTimers::elementsOnHeap).sum();
  }

  /** Goes on with the serializer that is registered now, which reads what is in the store. */
  void takeSerializer() {
    elements.setSerializer(registered.serializer());
  }
}
