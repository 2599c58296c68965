package io.fasterkv.flink.state;

import io.fasterkv.flink.records.list.ListSnapshot;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a list, deserialized while iterating. Removal changes only this object, as with
 * any list that a state has returned, and not the state; it loads all elements to the heap. For the
 * task thread.
 */
final class Elements<V> implements Iterable<V> {
  private final ListSnapshot chunks;
  private final TypeSerializer<V> serializer;

  /** The elements left after a removal; null before the first. */
  private @Nullable List<V> left;

  Elements(ListSnapshot chunks, TypeSerializer<V> serializer) {
    this.chunks = chunks;
    this.serializer = serializer;
  }

  @Override
  public Iterator<V> iterator() {
    return left == null ? new Walk() : left.iterator();
  }

  /**
   * Iterates over the elements in the store until one is removed, and from then on over those left.
   */
  private final class Walk implements Iterator<V> {
    private final StoredElements<V> stored = new StoredElements<>(chunks, serializer);
    private @Nullable Iterator<V> rest;
    private int shown;

    @Override
    public boolean hasNext() {
      return rest == null ? stored.hasNext() : rest.hasNext();
    }

    @Override
    public V next() {
      if (rest != null) {
        return rest.next();
      }
      V element = stored().next();
      shown++;
      return element;
    }

    private Iterator<V> stored() {
      if (left != null) {
        throw new ConcurrentModificationException("an element was removed by another iterator");
      }
      return stored;
    }

    @Override
    public void remove() {
      Iterator<V> own = rest;
      if (own == null) {
        stored();
        if (shown == 0) {
          throw new IllegalStateException("there is no element to remove: call next first");
        }
        List<V> all = new ArrayList<>();
        new StoredElements<>(chunks, serializer).forEachRemaining(all::add);
        left = all;
        own = all.iterator();
        for (int skipped = 0; skipped < shown; skipped++) {
          own.next();
        }
        rest = own;
      }
      own.remove();
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("[");
    String separator = "";
    for (V element : this) {
      text.append(separator).append(element);
      separator = ", ";
    }
    return text.append(']').toString();
  }
}
