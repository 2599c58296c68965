package io.fasterkv.flink.state;

import io.fasterkv.flink.key.CompositeKey;
import io.fasterkv.flink.records.ByteLists;
import io.fasterkv.flink.records.ListLayout;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Elements on their way into a list, serialized in batches: a list takes a batch, and gives it
 * back, in one piece. For one thread; used over and over.
 */
final class ListBatches {
  private static final int FIRST_BATCHES = 4;

  private final int together;
  private boolean replaces;

  /** Where full batches end; the next one begins behind a separator. */
  private int[] ends = new int[FIRST_BATCHES];

  private int full;

  /** Where the batch begins that is being filled, and where its last element ends. */
  private int start;

  private int end;
  private boolean isEmpty = true;

  /**
   * @param together bytes of a batch, unless one element is longer
   */
  ListBatches(int together) {
    this.together = together;
  }

  /**
   * Begins anew.
   *
   * @param isWhole whether what is added becomes the whole list
   */
  void begin(boolean isWhole) {
    replaces = isWhole;
    full = 0;
    start = 0;
    end = 0;
    isEmpty = true;
  }

  /** Adds an element to what {@code out} holds. */
  <V> void add(V value, TypeSerializer<V> serializer, DataOutputSerializer out) throws IOException {
    if (!isEmpty) {
      out.writeByte(ListLayout.SEPARATOR);
    }
    int from = out.length();
    serializer.serialize(value, out);
    if (!isEmpty && out.length() - start > together) {
      endBatch(from);
    }
    end = out.length();
    isEmpty = false;
    if (end - start >= together) {
      out.writeByte(ListLayout.SEPARATOR);
      endBatch(out.length());
      isEmpty = true;
    }
  }

  private void endBatch(int next) {
    if (full == ends.length) {
      ends = Arrays.copyOf(ends, 2 * full);
    }
    ends[full++] = end;
    start = next;
  }

  /** Writes the full batches, and leaves the begin of the next in {@code out}. */
  void writeFull(DataOutputSerializer out, ByteLists lists, CompositeKey key) throws IOException {
    writeBatches(out.getSharedBuffer(), lists, key);
    byte[] rest = Arrays.copyOfRange(out.getSharedBuffer(), start, out.length());
    out.clear();
    out.write(rest);
    full = 0;
    end -= start;
    start = 0;
  }

  /** Writes all. */
  void end(DataOutputSerializer out, ByteLists lists, CompositeKey key) {
    writeBatches(out.getSharedBuffer(), lists, key);
    if (!isEmpty) {
      write(out.getSharedBuffer(), start, end, lists, key);
    }
  }

  private void writeBatches(byte[] batches, ByteLists lists, CompositeKey key) {
    int from = 0;
    for (int batch = 0; batch < full; batch++) {
      write(batches, from, ends[batch], lists, key);
      from = ends[batch] + 1;
    }
  }

  private void write(byte[] batches, int from, int until, ByteLists lists, CompositeKey key) {
    if (replaces) {
      lists.set(key, batches, from, until - from);
      replaces = false;
    } else {
      lists.append(key, batches, from, until - from);
    }
  }
}
