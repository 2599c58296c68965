package io.fasterkv.flink.records.tree;

import io.fasterkv.api.ByteSpan;
import java.util.Arrays;

/** A copy of an order key or a separator on the heap, or none. Reused. */
final class KeyCopy {
  private static final int NONE = -1;

  private byte[] bytes = new byte[0];
  private int length = NONE;

  void setNone() {
    length = NONE;
  }

  boolean isNone() {
    return length == NONE;
  }

  void set(OrderKey key) {
    reserve(key.length());
    System.arraycopy(key.bytes(), 0, bytes, 0, length);
  }

  void set(ByteSpan block, int at, int count) {
    reserve(count);
    block.copyTo(at, bytes, 0, count);
  }

  void set(KeyCopy other) {
    reserve(other.length);
    System.arraycopy(other.bytes, 0, bytes, 0, length);
  }

  private void reserve(int count) {
    if (count > bytes.length) {
      bytes = new byte[count];
    }
    length = count;
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  /** Compares with a key; this copy must have one. */
  int compareTo(OrderKey key) {
    return Arrays.compareUnsigned(bytes, 0, length, key.bytes(), 0, key.length());
  }
}
