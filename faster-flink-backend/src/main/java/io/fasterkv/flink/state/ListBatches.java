package io.fasterkv.flink.state;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.ListLayout;
import io.fasterkv.flink.records.StateWrites;
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
 * Elements on their way into a list, serialized in batches: a list takes a batch, and gives it
 * back, in one piece. For one thread; used over and over.
 */
final class ListBatches {
  private static final int FIRST_BATCHES = 4;

  /** Longer lists are written in pieces while they are serialized. */
  private static final int WHOLE_BYTES = 16 << 20;

  private static final Class<?> FEW = List.of(1, 2).getClass();
  private static final Class<?> MANY = List.of(1, 2, 3).getClass();

  private final int together;
  private boolean replaces;

  /** Where full batches end; the next one begins behind a separator. */
  private int[] ends = new int[FIRST_BATCHES];

  private int full;

  /** Where the batch begins that is being filled. */
  private int start;

  /**
   * @param together bytes of a batch, unless one element is longer
   */
  ListBatches(int together) {
    this.together = together;
  }

  /**
   * Writes elements into a list. One of up to {@link #WHOLE_BYTES} is written when all of it has
   * been serialized: an element that cannot be leaves the state as it was. So does null in a list
   * of any length.
   *
   * @param isWhole whether the elements become the whole list
   * @param out empty
   * @param key asked for when everything before has been serialized
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
    // Whatever is a field here is stored and loaded again for each element.
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
   * Whether a list never changes and is one of the JDK's, whose iterator asks it by place: how that
   * is compiled depends on all lists in the process that are walked through. A user's list may be a
   * view, or change, and only its iterator knows.
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

  /**
   * Ends the batch before the element that is from {@code from} to before {@code next}, or after.
   */
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

  /** Writes the full batches, and leaves the begin of the next in {@code out}. */
  private void writeFull(DataOutputSerializer out, StateWrites writes, CompositeKey key)
      throws IOException {
    writeBatches(out.getSharedBuffer(), writes, key);
    byte[] rest = Arrays.copyOfRange(out.getSharedBuffer(), start, out.length());
    out.clear();
    out.write(rest);
    full = 0;
    start = 0;
  }

  /** Writes all. */
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
