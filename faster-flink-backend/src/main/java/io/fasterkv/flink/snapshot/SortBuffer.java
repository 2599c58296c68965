package io.fasterkv.flink.snapshot;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.key.KeyLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Collects records in memory and sorts them by key. Of several records with the same key, the last
 * one added counts.
 *
 * <pre>
 *   | start of key: 8 | length of key: 4 | length of value, or -1: 4 | key | value |
 * </pre>
 *
 * <p>The start of the key is the first bytes of its prefix, padded with zeros; it decides most
 * comparisons.
 */
final class SortBuffer {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int KEY_LENGTH_AT = Long.BYTES;
  private static final int VALUE_LENGTH_AT = KEY_LENGTH_AT + Integer.BYTES;
  private static final int HEAD_BYTES = VALUE_LENGTH_AT + Integer.BYTES;
  private static final int FIRST_BYTES = 16 << 10;
  private static final int FIRST_RECORDS = 256;

  private final int limit;
  private byte[] bytes = new byte[FIRST_BYTES];
  private int end;
  private int[] starts = new int[FIRST_RECORDS];
  private int count;

  /** A buffer that grows to {@code limit} bytes, or to the size of a single larger record. */
  SortBuffer(int limit) {
    this.limit = limit;
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Adds a record without its value's bytes; returns false, and changes nothing, if it is full. */
  boolean add(ByteSpan key, int valueLength) {
    int length = HEAD_BYTES + key.length() + Math.max(0, valueLength);
    if (count > 0 && end + (long) length > limit) {
      return false;
    }
    reserve(length);
    INT.set(bytes, end + KEY_LENGTH_AT, key.length());
    INT.set(bytes, end + VALUE_LENGTH_AT, valueLength);
    key.copyTo(0, bytes, end + HEAD_BYTES, key.length());
    int startBytes = Math.min(Long.BYTES, key.length() - KeyLayout.SUB_BYTES);
    LONG.set(bytes, end, 0L);
    System.arraycopy(bytes, end + HEAD_BYTES, bytes, end, startBytes);
    starts[count++] = end;
    end += length;
    return true;
  }

  /** Adds a record's value, directly after {@link #add}. */
  void addValue(ByteSpan value) {
    value.copyTo(0, bytes, end - value.length(), value.length());
  }

  private void reserve(int length) {
    if (end + length > bytes.length) {
      long doubled = Math.min(2L * bytes.length, limit);
      bytes = Arrays.copyOf(bytes, (int) Math.max(doubled, end + length));
    }
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, count * 2);
    }
  }

  void clear() {
    end = 0;
    count = 0;
  }

  /** Sorts the records and keeps the last one of each key. */
  void sort() {
    mergeSort();
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (i + 1 == count || compare(starts[i], starts[i + 1]) != 0) {
        starts[kept++] = starts[i];
      }
    }
    count = kept;
  }

  /** A stable bottom-up merge sort: equal keys stay in the order in which they were added. */
  private void mergeSort() {
    int[] from = starts;
    int[] to = new int[starts.length];
    for (int width = 1; width < count; width *= 2) {
      for (int low = 0; low < count; low += 2 * width) {
        merge(from, to, low, Math.min(low + width, count), Math.min(low + 2 * width, count));
      }
      int[] swapped = from;
      from = to;
      to = swapped;
    }
    starts = from;
  }

  private void merge(int[] from, int[] to, int low, int middle, int high) {
    int left = low;
    int right = middle;
    for (int at = low; at < high; at++) {
      boolean takeLeft = left < middle && (right >= high || compare(from[left], from[right]) <= 0);
      to[at] = takeLeft ? from[left++] : from[right++];
    }
  }

  private int compare(int left, int right) {
    int byStart = Long.compareUnsigned((long) LONG.get(bytes, left), (long) LONG.get(bytes, right));
    return byStart != 0
        ? byStart
        : KeyLayout.compare(
            bytes, left + HEAD_BYTES, keyLength(left), bytes, right + HEAD_BYTES, keyLength(right));
  }

  private int keyLength(int start) {
    return (int) INT.get(bytes, start + KEY_LENGTH_AT);
  }

  private int valueLength(int start) {
    return (int) INT.get(bytes, start + VALUE_LENGTH_AT);
  }

  /** The sorted records. */
  SortedRecords records() {
    return new Records();
  }

  private final class Records implements SortedRecords {
    private int index = -1;
    private int start;

    @Override
    public boolean next() {
      if (++index >= count) {
        return false;
      }
      start = starts[index];
      return true;
    }

    @Override
    public byte[] keyBytes() {
      return bytes;
    }

    @Override
    public int keyStart() {
      return start + HEAD_BYTES;
    }

    @Override
    public int keyLength() {
      return SortBuffer.this.keyLength(start);
    }

    @Override
    public byte[] valueBytes() {
      return bytes;
    }

    @Override
    public int valueStart() {
      return keyStart() + keyLength();
    }

    @Override
    public int valueLength() {
      return SortBuffer.this.valueLength(start);
    }

    @Override
    public void close() {}
  }
}
