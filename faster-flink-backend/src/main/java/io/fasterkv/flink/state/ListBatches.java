package io.fasterkv.flink.state;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.list.ListLayout;
import io.fasterkv.flink.records.write.StateWrites;
import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.Preconditions;
import org.jspecify.annotations.Nullable;

/**
 * Serializes elements into batches and writes them to a list; each batch is stored in one piece.
 * Reusable. For one thread.
 */
final class ListBatches {
  private static final int FIRST_BATCHES = 4;

  /** Length above which a list is written in pieces while it is serialized. */
  private static final int WHOLE_BYTES = 16 << 20;

  private static final Class<?> FEW = List.of(1, 2).getClass();
  private static final Class<?> MANY = List.of(1, 2, 3).getClass();

  private final int together;
  private boolean replaces;

  /** Ends of the full batches; the next batch begins after a separator. */
  private int[] ends = new int[FIRST_BATCHES];

  private int full;

  /** Start of the batch that is being filled. */
  private int start;

  /**
   * @param together maximum bytes of a batch, unless one element is longer
   */
  ListBatches(int together) {
    this.together = together;
  }

  /**
   * Writes elements into a list. Up to {@link #WHOLE_BYTES} they are written after all have been
   * serialized, so an element that cannot be serialized leaves the state unchanged. A null element
   * leaves it unchanged whatever the length.
   *
   * @param isWhole whether the elements replace the list
   * @param out must be empty
   * @param key called after the elements before it have been serialized
   */
  <V> void write(
      List<V> values,
      boolean isWhole,
      TypeSerializer<V> serializer,
      DataOutputSerializer out,
      StateWrites writes,
      Supplier<CompositeKey> key)
      throws IOException {
    begin(isWhole);
    boolean areChecked = false;
    int from = 0;
    // A local variable, since a field would be loaded and stored again for each element.
    int longest = together;
    Iterator<V> inTurn = isByPlace(values) ? null : values.iterator();
    int size = values.size();
    for (int i = 0; inTurn == null ? i < size : inTurn.hasNext(); i++) {
      V value = inTurn == null ? values.get(i) : inTurn.next();
      checkElement(value);
      serializer.serialize(value, out);
      out.writeByte(ListLayout.SEPARATOR);
      int next = out.length();
      if (next > longest) {
        endBatches(from, next);
        if (next >= WHOLE_BYTES) {
          if (!areChecked) {
            values.forEach(ListBatches::checkElement);
            areChecked = true;
          }
          writeFull(out, writes, key.get());
          next = out.length();
        }
        longest = start + together;
      }
      from = next;
    }
    end(out, writes, key.get());
  }

  /**
   * Whether a list is one of the JDK's immutable lists, whose elements are read by index: how an
   * iterator is compiled depends on all lists of the process. A user's list may be a view or may
   * change, so it is read with its iterator.
   */
  private static boolean isByPlace(List<?> values) {
    return values.getClass() == FEW || values.getClass() == MANY;
  }

  static void checkElement(@Nullable Object value) {
    Preconditions.checkNotNull(value, "You cannot add null to a ListState.");
  }

  private void begin(boolean isWhole) {
    replaces = isWhole;
    full = 0;
    start = 0;
  }

  /** Ends the batch before or after the element between {@code from} and {@code next}. */
  private void endBatches(int from, int next) {
    boolean isFirst = from == start;
    if (!isFirst && next - 1 - start > together) {
      endBatch(from);
    }
    if (next - 1 - start >= together) {
      endBatch(next);
    }
  }

  private void endBatch(int next) {
    if (full == ends.length) {
      ends = Arrays.copyOf(ends, 2 * full);
    }
    ends[full++] = next - 1;
    start = next;
  }

  /** Writes the full batches and leaves the start of the next one in {@code out}. */
  private void writeFull(DataOutputSerializer out, StateWrites writes, CompositeKey key)
      throws IOException {
    writeBatches(out.getSharedBuffer(), writes, key);
    byte[] rest = Arrays.copyOfRange(out.getSharedBuffer(), start, out.length());
    out.clear();
    out.write(rest);
    full = 0;
    start = 0;
  }

  /** Writes all that is left. */
  private void end(DataOutputSerializer out, StateWrites writes, CompositeKey key) {
    writeBatches(out.getSharedBuffer(), writes, key);
    if (out.length() > start) {
      write(out.getSharedBuffer(), start, out.length() - 1, writes, key);
    }
  }

  private void writeBatches(byte[] batches, StateWrites writes, CompositeKey key) {
    int from = 0;
    for (int batch = 0; batch < full; batch++) {
      write(batches, from, ends[batch], writes, key);
      from = ends[batch] + 1;
    }
  }

  private void write(byte[] batches, int from, int until, StateWrites writes, CompositeKey key) {
    if (replaces) {
      writes.setList(key, batches, from, until - from);
      replaces = false;
    } else {
      writes.append(key, batches, from, until - from);
    }
  }
}
