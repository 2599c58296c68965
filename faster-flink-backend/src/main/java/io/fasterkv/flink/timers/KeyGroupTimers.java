package io.fasterkv.flink.timers;

import io.fasterkv.flink.records.base.Bytes;
import io.fasterkv.flink.records.tree.TimerTree;
import io.fasterkv.flink.records.tree.TreeScan;
import java.util.Collection;
import java.util.NoSuchElementException;
import org.apache.flink.runtime.state.InternalPriorityQueue;
import org.apache.flink.runtime.state.PriorityComparator;
import org.apache.flink.runtime.state.heap.AbstractHeapPriorityQueueElement;
import org.apache.flink.util.CloseableIterator;
import org.jspecify.annotations.Nullable;

/**
 * The timers of one key group of a queue, in the store. The first one, the head, is also on the
 * heap once it has been read. For the task thread.
 *
 * @param <T> type of the elements
 */
final class KeyGroupTimers<T> extends AbstractHeapPriorityQueueElement
    implements InternalPriorityQueue<T> {
  private static final long NEVER = -1;

  private final TimerTree tree;
  private final ElementBytes<T> elements;
  private final PriorityComparator<T> priorities;
  private @Nullable T head;

  /** The tree's count of head changes when the head was read. */
  private long headAsOf = NEVER;

  KeyGroupTimers(TimerTree tree, ElementBytes<T> elements, PriorityComparator<T> priorities) {
    this.tree = tree;
    this.elements = elements;
    this.priorities = priorities;
  }

  TimerTree tree() {
    return tree;
  }

  /** Number of elements on the heap. */
  int elementsOnHeap() {
    return head == null ? 0 : 1;
  }

  @Override
  public @Nullable T peek() {
    if (headAsOf != tree.headChanges()) {
      Bytes bytes = elements.scratch();
      head = tree.first(bytes) ? elements.read(bytes) : null;
      headAsOf = tree.headChanges();
      bytes.clear();
    }
    return head;
  }

  @Override
  public @Nullable T poll() {
    T first = peek();
    if (first == null) {
      return null;
    }
    tree.removeFirst();
    T next = peek();
    if (next != null && priorities.comparePriority(first, next) > 0) {
      throw new IllegalStateException(
          "the order of serialized timers is not that of their priorities: polled="
              + first
              + ", next="
              + next
              + ", serializer="
              + elements.serializer()
              + "; use a serializer whose first "
              + TimerTree.ORDERED_BYTES
              + " bytes decide the order, as unsigned numbers, or"
              + " state.backend.faster.timers=heap");
    }
    return first;
  }

  @Override
  public boolean add(T element) {
    elements.write(element);
    long before = tree.headChanges();
    tree.add(elements.array(), 0, elements.length());
    return tree.headChanges() != before;
  }

  @Override
  public boolean remove(T element) {
    elements.write(element);
    long before = tree.headChanges();
    tree.remove(elements.array(), 0, elements.length());
    return tree.headChanges() != before;
  }

  @Override
  public boolean isEmpty() {
    return tree.isEmpty();
  }

  @Override
  public int size() {
    return (int) Math.min(tree.count(), Integer.MAX_VALUE);
  }

  @Override
  public void addAll(@Nullable Collection<? extends T> all) {
    if (all != null) {
      for (T element : all) {
        add(element);
      }
    }
  }

  /**
   * Iterates over the elements in the order of their bytes. The queue may change meanwhile; an
   * element that is not changed is returned exactly once.
   */
  @Override
  public CloseableIterator<T> iterator() {
    return new Elements();
  }

  private final class Elements implements CloseableIterator<T> {
    private final TreeScan scan = tree.scan();
    private final Bytes bytes = new Bytes();
    private @Nullable T ahead;

    @Override
    public boolean hasNext() {
      if (ahead == null && scan.next()) {
        scan.element(bytes);
        ahead = elements.read(bytes);
      }
      return ahead != null;
    }

    @Override
    public T next() {
      T element = hasNext() ? ahead : null;
      if (element == null) {
        throw new NoSuchElementException("all timers of the key group have been shown");
      }
      ahead = null;
      return element;
    }

    @Override
    public void close() {}
  }
}
